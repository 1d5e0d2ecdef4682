"""Messages and keys of one format as a client handles them: bytes and models, proven."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from msgspec import UNSET

from changewire.changes.contradictions import contradictions_of
from changewire.changes.decode_options import DecodeOptions
from changewire.codec import Data, EncodeError, Issue, codec
from changewire.codec.encoding import write_parsed
from changewire.codec.family import is_model
from changewire.codec.registry import decode_whole, family, usable
from changewire.codec.wire import bytes_of, is_data, wire_of
from changewire.kafka.schema_header import SchemaHeader, short

_KEY: Final = "key"


def formats_with(*, is_key: bool) -> list[str]:
    """Return the names of the usable formats that have values, which all do, or keys."""
    return [name for name in usable() if not is_key or _KEY in family(name).roles]


@cache
def messages_of(format: str, *, is_key: bool) -> Messages:
    """Return the messages, or the keys, of a format; the same object each time.

    Raises:
        ValueError: No format has this name, or its records have no keys of their own.
    """
    return Messages(format, is_key=is_key)


class Messages:
    """Reads and writes the values, or the keys, of one format.

    Attributes:
        format: Public name of the format.
        digests: Digests of its schemas, as in headers.
    """

    def __init__(self, format: str, *, is_key: bool) -> None:
        """Look up the format."""
        self.format = format
        self._codec = codec(format)
        self._family = family(format)
        self._wire = wire_of(self._family)
        self._is_key = is_key
        self.digests: set[str] = {short(self._family.digest(role)) for role in self._family.roles}
        if is_key and _KEY not in self._family.roles:
            raise ValueError(f"{format} has no record keys of its own: use a serializer for text")

    def read(self, data: Data) -> Any:
        """Return the model of a value or a key, or a list of the models of a batch.

        Raises:
            DecodeError: It is rejected; with every issue, of every element of a batch.
        """
        return self._codec.decode_key(data) if self._is_key else decode_whole(data, self._codec)

    def written(self, obj: object) -> tuple[bytes, Any]:
        """Return the bytes of a value or a key, and what `read` makes of them.

        Args:
            obj: A model or a list of models; dictionaries and lists as a parser gives them; or
                bytes or text, which stay as they are.

        Raises:
            CodecError: It is rejected.
        """
        if is_model(obj):
            self._check_kind(obj)
            return self._codec.encode(obj), obj  # encode has read it back
        data = bytes_of(obj) if is_data(obj) else write_parsed(obj, self._family, self._wire)
        return data, self.read(data)

    def check(
        self, model: Any, data: bytes, *, strict: bool, declared: DecodeOptions | None
    ) -> None:
        """Check what decoding alone does not ask of a value that `read` gave of its bytes.

        `strict` is that of the serializer; `declared` are the options by which it asks for declared
        types, None if it does not.

        Raises:
            EncodeError: It is rejected.
        """
        if self._is_key:
            return
        models = _elements(model)
        issues: list[Issue] = []
        if strict and any(getattr(one, "extra", UNSET) is not UNSET for _, one in models):
            issues += self._codec.validate(data, strict=True)
        issues += contradictions_of(models, declared, strict=strict)
        if issues:
            raise EncodeError(self.format, issues)

    def header(self, model: object) -> SchemaHeader:
        """Return the header for what `read` gave."""
        kind = _KEY if self._is_key else "message"
        if isinstance(model, list):
            kind = "key_batch" if self._is_key else "batch"
        is_message = kind == "message"
        variant = self._family.variant_of(model) if is_message else self._family.roles[kind]
        return SchemaHeader(self.format, variant, short(self._family.digest(kind)))

    def _check_kind(self, obj: Any) -> None:
        """Reject models of other formats, and keys instead of messages."""
        kinds = [self._family.types[_KEY]] if self._is_key else self._codec.models
        expected = f"the model of a {'record key' if self._is_key else 'message'} of {self.format}"
        issues = [
            Issue(at, "wrong-type", "model", expected, one)
            for at, one in _elements(obj)
            if type(one) not in kinds
        ]
        if issues:
            raise EncodeError(self.format, issues)


def _elements(model: Any) -> list[tuple[str, Any]]:
    """Return (JSON Pointer, model) of each element of a batch, or of the one message."""
    if isinstance(model, list):
        return [(f"/{i}", one) for i, one in enumerate(model)]
    return [("", model)]
