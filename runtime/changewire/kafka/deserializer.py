"""A deserializer that returns models, of a given format or of the one in a header."""

from typing import Any, Final

from msgspec import UNSET

from changewire.codec import CodecError, DecodeError, Issue, codec_for
from changewire.codec.framed import without_prefix
from changewire.codec.unclaimed import UNKNOWN
from changewire.codec.wire import is_data
from changewire.kafka.error import MessageRejectedError
from changewire.kafka.interface import (
    Deserializer,
    Headers,
    MessageField,
    SerializationContext,
    is_key_in,
    place,
)
from changewire.kafka.messages import Messages, formats_with, messages_of
from changewire.kafka.schema_header import HEADERS, SchemaHeader, parse, read

_MISMATCH: Final = "header-mismatch"
_FORM: Final = "a header of the form FORMAT;variant=TITLE;schema=32 HEX DIGITS"
_NO_FORMAT: Final = Issue(
    "", "unknown-variant", "format", "a header that names the format of the key"
)


class ChangewireDeserializer(Deserializer):
    """Makes models of values and keys.

    A deserializer of confluent-kafka, and a callable of one argument for kafka-python and aiokafka.
    Threads may share it. A `SchemaHeader` of a record says its format; one that contradicts what
    the deserializer was given, or the message itself, is an error.
    """

    def __init__(
        self,
        format: str | None = None,
        *,
        is_key: bool = False,
        strip_registry_prefix: bool = False,
        show_values: bool = False,
    ) -> None:
        """Look up the format.

        Args:
            format: Public name of the format; None asks the header, then the message. A key does
                not say its format, so without a header it needs the name.
            is_key: Whether it reads record keys, if no context says its purpose.
            strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema
                registry put before values and keys.
            show_values: Show the start of wrong values in the texts of errors.

        Raises:
            ValueError: No format has this name, or its records have no keys of their own.
        """
        super().__init__()
        if format is not None:
            messages_of(format, is_key=is_key)
        self.format = format
        self._is_key = is_key
        self._strips = strip_registry_prefix
        self._show_values = show_values

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Return the model of a value or a key, a list of those of a batch, None for a tombstone.

        Args:
            value: The bytes.
            ctx: What confluent-kafka says of the record.

        Raises:
            SerializationError: It is rejected, as `MessageRejectedError` with every issue.
            ValueError: The context says that a key is meant, and records have none.
        """
        if value is None:
            return None
        is_key = is_key_in(ctx, default=self._is_key)
        header: SchemaHeader | None = None
        try:
            header = _header_in(ctx, self.format, is_key=is_key)
            data = without_prefix(value) if self._strips and is_data(value) else value
            return self._read(data, header, is_key=is_key)
        except CodecError as error:
            refusal = error
        note = place(ctx, is_key=is_key)
        if header is not None and refusal.code != _MISMATCH:
            note += f", by its header {header}"
        raise MessageRejectedError(refusal, note, show_values=self._show_values)

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
            if is_key:
                raise DecodeError(UNKNOWN, [_NO_FORMAT])
            name = codec_for(value).format
        messages = messages_of(name, is_key=is_key)
        model = messages.read(value)
        if header is not None:
            _check_model(header, model, messages)
        return model


def _header_in(
    ctx: SerializationContext | None, format: str | None, *, is_key: bool
) -> SchemaHeader | None:
    """Return what the header of a record says, checked; None if it has none."""
    value = None if ctx is None else read(ctx, HEADERS[is_key])
    if value is None:
        return None
    header = parse(value)
    if header is None:
        raise _mismatch(format or UNKNOWN, _FORM, value)
    known = formats_with(is_key=is_key) if format is None else [format]
    if header.format not in known:
        expected = f"a header that says {' or '.join(known)}, not {header.format}"
        raise _mismatch(format or UNKNOWN, expected)
    return header


def _check_model(header: SchemaHeader, model: Any, messages: Messages) -> None:
    """Check that a message fits its header, if both were made by the same schemas.

    A header of other schemas is that of another release, whose variants may be others.
    """
    found = messages.header(model)
    if header != found and header.schema in messages.digests:
        raise _mismatch(header.format, f"a header that says {found}, not {header}")


def _mismatch(format: str, expected: str, actual: object = UNSET) -> DecodeError:
    return DecodeError(format, [Issue("", _MISMATCH, "header", expected, actual)])
