"""A serializer that sends nothing that the schema of its format rejects."""

from collections.abc import Sequence
from typing import Any

from changewire.changes.contradictions import options_of
from changewire.codec import CodecError
from changewire.codec.framed import without_prefix
from changewire.codec.wire import is_data
from changewire.kafka.error import MessageRejectedError
from changewire.kafka.interface import (
    Headers,
    MessageField,
    SerializationContext,
    Serializer,
    is_key_in,
    place,
)
from changewire.kafka.messages import messages_of
from changewire.kafka.schema_header import HEADERS, write


class ChangewireSerializer(Serializer):
    """Makes the bytes of values and keys of one format, each proven to be one that readers accept.

    A serializer of confluent-kafka, and a callable of one argument for kafka-python and aiokafka.
    Threads may share it.
    """

    def __init__(
        self,
        format: str,
        *,
        is_key: bool = False,
        declared: bool = True,
        key_columns: Sequence[str] | None = None,
        strict: bool = False,
        header: bool = False,
        strip_registry_prefix: bool = False,
        show_values: bool = False,
    ) -> None:
        """Look up the format.

        Args:
            format: Public name of the format.
            is_key: Whether it makes record keys, if no context says its purpose.
            declared: Also reject values of other types than the message declares for them, and
                whatever else contradicts itself in it, as `changewire.validate` does.
            key_columns: Columns that name the rows, as for `changewire.validate`.
            strict: Also reject properties and operations that the schema does not name, and
                columns, also of the key, that the message does not declare.
            header: Put a `SchemaHeader` among the headers of the record.
            strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema
                registry put before values and keys, from bytes that are given.
            show_values: Show the start of wrong values in the texts of errors.

        Raises:
            ValueError: No format has this name, its records have no keys of their own, or
                `key_columns` does not fit it.
        """
        super().__init__()
        messages_of(format, is_key=is_key)
        self.format = format
        self._is_key = is_key
        options = options_of(format, key_columns)
        self._declared = options if declared else None
        self._strict = strict
        self._header = header
        self._strips = strip_registry_prefix
        self._show_values = show_values

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Return the bytes of a value or a key.

        Args:
            obj: A model, or a list of those of a batch; a message as dictionaries and lists; its
                bytes or text, which stay as they are; None, a tombstone, stays None.
            ctx: What confluent-kafka says of the record.

        Raises:
            SerializationError: It is rejected, as `MessageRejectedError` with every issue; or
                headers are missing to put one into.
            ValueError: The context says that a key is meant, and records have none.
        """
        if obj is None:
            return None
        is_key = is_key_in(ctx, default=self._is_key)
        messages = messages_of(self.format, is_key=is_key)
        if self._strips and is_data(obj):
            obj = without_prefix(obj)
        try:
            data, model = messages.written(obj)
            messages.check(model, data, strict=self._strict, declared=self._declared)
        except CodecError as error:
            refusal = error
        else:
            if self._header:
                write(ctx, HEADERS[is_key], messages.header(model))
            return data
        where = place(ctx, is_key=is_key)
        raise MessageRejectedError(refusal, where, show_values=self._show_values)

    def serialize(self, topic: str, headers: Headers, data: Any) -> bytes | None:
        """Return the bytes of a value or a key: the call as kafka-python 3 makes it.

        Args:
            topic: Name of the topic.
            headers: Headers of the record, among which one may be put.
            data: As for the call.

        Raises:
            SerializationError: As for the call.
        """
        return self(data, SerializationContext(topic, MessageField.NONE, headers))
