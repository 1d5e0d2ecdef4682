"""A deserializer that gives models, of the format that it is given or that a header names."""

from __future__ import annotations

from typing import Any

from changewire.codec import CodecError, codec_for
from changewire.kafka.error import MessageRefusedError
from changewire.kafka.header_check import MISMATCH, check_model, header_in, no_format
from changewire.kafka.interface import (
    Deserializer,
    Headers,
    MessageField,
    SerializationContext,
    is_key_in,
    place,
)
from changewire.kafka.messages import messages_of
from changewire.kafka.schema_header import SchemaHeader


class ChangewireDeserializer(Deserializer):
    """Makes models of values and keys.

    A deserializer of confluent-kafka, and a callable of one argument for kafka-python and aiokafka.
    Threads may share it. A `SchemaHeader` of a record says its format; one that contradicts what
    the deserializer was given, or the message itself, is an error.
    """

    def __init__(
        self, format: str | None = None, *, is_key: bool = False, show_values: bool = False
    ) -> None:
        """Look up the format.

        Args:
            format: Public name of the format; None asks the header, then the message. A key does
                not say its format, so without a header it needs the name.
            is_key: Whether it reads record keys, if no context says what it is called for.
            show_values: Show the start of wrong values in the texts of errors.

        Raises:
            ValueError: No format has this name, or its records have no keys of their own.
        """
        super().__init__()
        if format is not None:
            messages_of(format, is_key=is_key)
        self.format = format
        self._is_key = is_key
        self._show_values = show_values

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Return the model of a value or a key, a list of those of a batch, None for a tombstone.

        Args:
            value: The bytes.
            ctx: What confluent-kafka says of the record.

        Raises:
            SerializationError: It is refused, as `MessageRefusedError` with every issue.
            ValueError: The context says that a key is meant, and records have none.
        """
        if value is None:
            return None
        is_key = is_key_in(ctx, default=self._is_key)
        header: SchemaHeader | None = None
        try:
            header = header_in(ctx, self.format, is_key=is_key)
            return self._read(value, header, is_key=is_key)
        except CodecError as error:
            refusal = error
        note = place(ctx, is_key=is_key)
        if header is not None and refusal.code != MISMATCH:
            note += f", by its header {header}"
        raise MessageRefusedError(refusal, note, show_values=self._show_values)

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Any:
        """Return the model of a value or a key: the call as kafka-python 3 makes it.

        Args:
            topic: Name of the topic.
            headers: Headers of the record.
            data: The bytes.

        Raises:
            SerializationError: As for the call.
        """
        return self(data, SerializationContext(topic, MessageField.NONE, headers))

    def _read(self, value: bytes, header: SchemaHeader | None, *, is_key: bool) -> Any:
        name = self.format if header is None else header.format
        if name is None:
            name = no_format() if is_key else codec_for(value).format
        messages = messages_of(name, is_key=is_key)
        model = messages.read(value)
        if header is not None:
            check_model(header, model, messages)
        return model
