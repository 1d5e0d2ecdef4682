"""One format in both directions: bytes to models, models to bytes."""

from __future__ import annotations

from typing import Any

import msgspec
from changewire_messages.change import Rejection

from changewire.codec.differences import first_difference, first_unencodable, value_at
from changewire.codec.family import Family
from changewire.codec.issues import CodecError, DecodeError, EncodeError, Issue
from changewire.codec.rejections import rejection
from changewire.codec.unknown import UnknownProperties
from changewire.codec.wire import PARSER_ERRORS, parse_json, read_unknown, write_unknown

Data = bytes | bytearray | memoryview | str | msgspec.Raw
"""What a message may be given as."""

_UNKNOWN = "unknown field"
"""What msgspec says of a property that a struct does not have."""

_BATCH = Issue("", "batch", "batch", "one message")


class Codec:
    """Reads and writes the messages of one format; keep it in a hot loop.

    Get one from `changewire.codec`; threads may share it.

    Attributes:
        format: Public name of the format.
    """

    def __init__(self, family: Family) -> None:
        """Build the decoders of a family."""
        self.format = family.format
        self._family = family
        self._strict = {r: msgspec.json.Decoder(kind) for r, kind in family.types.items()}
        self._lenient = {
            role: msgspec.json.Decoder(kind, dec_hook=read_unknown)
            for role, kind in family.types.items()
        }
        self._split = msgspec.json.Decoder(list[msgspec.Raw]).decode
        self._encoder = msgspec.json.Encoder()
        self._decode_message = self._strict["message"].decode
        self._unknown = UnknownProperties(family.arms, self._decode_message)
        self._expects_unknown = False

    def __repr__(self) -> str:
        """Return the call that gives this codec."""
        return f"codec({self.format!r})"

    def decode(self, data: Data) -> Any:  # noqa: ANN401 - the model depends on the format
        """Return the model of one message.

        Args:
            data: The value of a Kafka record, as bytes or as text.

        Raises:
            DecodeError: The message is refused; a batch has the code ``batch``.
        """
        try:
            return self._decode_fast(data)
        except (*PARSER_ERRORS, KeyError):
            return self._decode_again(data, "message")

    def decode_all(self, data: Data) -> list[Any]:
        """Return the elements of a message that may be a batch, in their order.

        Returns:
            For each element its model, or a `Rejection`; one element where the message is no
            batch, none where the batch is empty.
        """
        try:
            return [self._decode_fast(data)]
        except (*PARSER_ERRORS, KeyError):
            pass
        try:
            if not self._family.is_batch(self._parse(data)):
                return [self._decode_again(data, "message")]
            return [self._element(raw, i) for i, raw in enumerate(self._split(data))]
        except DecodeError as error:
            return [rejection(error)]

    def decode_key(self, data: Data) -> Any:  # noqa: ANN401
        """Return the model of a Kafka record key: one key, or a list of the keys of a batch.

        Raises:
            DecodeError: The key is refused, or the format has no keys of its own.
        """
        if "key" not in self._family.roles:
            raise DecodeError(self.format, [Issue("", "unknown-variant", "key", "no record key")])
        role = "key_batch" if self._family.is_key_batch(self._parse(data)) else "key"
        try:
            return self._strict[role].decode(data)
        except PARSER_ERRORS:
            return self._decode_again(data, role)

    def encode(self, model: object) -> bytes:
        """Return the bytes of a message, a key, or a list of either.

        The bytes are decoded again before they are returned: what is sent is what `decode` accepts,
        and means the same.

        Raises:
            EncodeError: A value is of the wrong type, or has no exact form in the encoding.
        """
        role = self._family.role_of(model)
        try:
            data = self._encoder.encode(model)
            if self._strict[role].decode(data) == model:
                return data
        except (TypeError, ValueError, OverflowError, *PARSER_ERRORS):
            pass
        return self._encode_again(model, role)

    def validate(self, data: object, *, closed: bool = False) -> list[Issue]:
        """Return every issue of a message; none where it is valid.

        Args:
            data: Bytes or text, a model, or a message parsed into dictionaries and lists.
            closed: Also report properties that the schema does not name.
        """
        try:
            obj = self._plain(data)
        except CodecError as error:
            return error.issues
        role = "batch" if self._family.is_batch(obj) else "message"
        return self._family.errors(obj, role, closed=closed)

    def leniencies(self, model: object) -> list[str]:
        """Return the names of the leniencies that a message needed, once for each use."""
        return self._family.leniencies(model)

    def recognises(self, data: Data) -> bool:
        """Tell whether a message, or the first of a batch, says that it is of this format."""
        try:
            return self._family.recognises(self._parse(data))
        except DecodeError:
            return False

    def _parse(self, data: Data) -> Any:  # noqa: ANN401 - any JSON value
        return parse_json(data, self.format)

    def _plain(self, data: object) -> Any:  # noqa: ANN401 - any JSON value
        """Return a message as dictionaries and lists, whatever it was given as."""
        if isinstance(data, (bytes, bytearray, memoryview, str, msgspec.Raw)):
            return self._parse(data)
        first = data[0] if isinstance(data, list) and data else data
        return self._parse(self.encode(data)) if isinstance(first, msgspec.Struct) else data

    def _element(self, raw: msgspec.Raw, index: int) -> Any:  # noqa: ANN401
        try:
            return self.decode(raw)
        except DecodeError as error:
            return rejection(error, index)

    def _decode_fast(self, data: Data) -> Any:  # noqa: ANN401
        """Decode by the strict types; unknown properties at the root are no obstacle.

        A producer that adds a property adds it to every message: after one such message the next
        one is expected to have it too. The expectation changes what a message costs, nothing else.
        """
        if not self._expects_unknown:
            try:
                return self._decode_message(data)
            except msgspec.ValidationError as error:
                if _UNKNOWN not in str(error):
                    raise
        model = self._unknown.decode(data)
        self._expects_unknown = model.extra is not msgspec.UNSET
        return model

    def _decode_again(self, data: Data, role: str) -> Any:  # noqa: ANN401
        """Return the model of what the fast path refused, or say what is wrong with it.

        What the model does not know is moved to where it keeps that; then the same strict types
        are decoded once more.
        """
        obj = self._parse(data)
        if role == "message" and self._family.is_batch(obj):
            raise DecodeError(self.format, [_BATCH])
        try:
            self._family.take_out(obj, role)
            return self._lenient[role].decode(self._encoder.encode(obj))
        except (ArithmeticError, AttributeError, LookupError, TypeError, *PARSER_ERRORS) as error:
            issues = self._family.errors(self._parse(data), role)
            # Without issues the two readings of the schema disagree: a defect of ours.
            raise DecodeError(
                self.format, issues or [Issue("", "rule-broken", "decode", str(error))]
            ) from None

    def _encode_again(self, model: object, role: str) -> bytes:
        """Write what the fast path cannot, or find out why it cannot be written."""
        try:
            obj = parse_json(msgspec.json.encode(model, enc_hook=write_unknown), self.format)
            self._family.put_back(obj, role)
        except (TypeError, ValueError, LookupError, OverflowError, *PARSER_ERRORS):
            raise EncodeError(self.format, [first_unencodable(model)]) from None
        issues = self._family.errors(obj, role)
        if issues:
            raise EncodeError(self.format, [_as_sent(issue, model) for issue in issues])
        data = self._encoder.encode(obj)
        received = self._decode_again(data, role)
        if received != model:
            raise EncodeError(self.format, [first_difference(model, received)])
        return data


def _as_sent(issue: Issue, model: object) -> Issue:
    """Return an issue about encoded bytes with the value that the model holds at its place."""
    return msgspec.structs.replace(issue, actual=value_at(model, issue.pointer))
