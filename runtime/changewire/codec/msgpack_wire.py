"""MessagePack: bytes to models and plain values, and back.

A message is decoded once, by msgspec, into the model that its first bytes name. What msgspec would
fold or lose shows in the bytes of the model, which then are others: such a message goes to the
second parser, and so does one whose numbers or lengths take more bytes than they need.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.msgpack import Decoder, Encoder

from changewire.codec.family import GeneratedFamily
from changewire.codec.framed import framing_issue
from changewire.codec.issues import DecodeError, Issue
from changewire.codec.msgpack_values import write_ext_key
from changewire.codec.wire import PARSER_ERRORS, Data, unexplained
from changewire.msgpack_heads import ARRAYS
from changewire_messages.support import Extra

_Decode = Callable[[bytes], Any]

_RULE: Final = "msgpack"
_MINUS_ONE: Final = 0xFF
_TIMES: Final = (b"\xd6\xff", b"\xd7\xff", b"\xc7\x0c\xff")
"""First bytes of an extension type of code -1, in the three lengths that msgspec takes."""


class MsgpackWire:
    """A family as MessagePack, with the same methods as `JsonWire`."""

    rule = _RULE
    alone = None
    unknown = None

    def __init__(self, family: GeneratedFamily) -> None:
        self._family = family
        self._elements = Decoder(list[msgspec.Raw]).decode
        self._encode = Encoder(enc_hook=write_ext_key).encode
        self._parse_at_once = _lossless({b"": Decoder().decode}, self._encode)
        self.write_all: Callable[[Any], bytes] = Encoder(enc_hook=_write_unknown).encode
        models = [*family.arms, *(kind for kind in family.types.values() if isinstance(kind, type))]
        self._known = {model: _known(model) for model in models if _has_extra(model)}
        self.read_back: Callable[[bytes], Any] = self.parse  # msgspec would make times

    def write(self, value: Any) -> bytes:
        """Return the bytes of a message, or of a list of such, without positions of its own."""
        if type(value) is list:
            return self._encode([self._positions(item) for item in value])
        return self._encode(self._positions(value))

    def _write_known(self, model: Any) -> bytes:
        """Return the bytes of a message that has no positions of its own, or of keys."""
        known = self._known.get(type(model))
        return self._encode(model if known is None else known(model))

    def _positions(self, value: Any) -> Any:
        """Return the positions of a message that its schema names, if it has no others."""
        known = self._known.get(type(value))
        return value if known is None or value.extra is not UNSET else known(value)

    def reader(self, role: str) -> Callable[[Any], Any]:
        """Return the typed decode of a role."""
        if role == "batch":
            read = self.reader("message")
            return lambda data: [read(element) for element in self._elements(data)]
        if role == "message":
            dispatch = self._family.part("dispatch")
            arms = {prefix: Decoder(arm).decode for prefix, arm in dispatch.ARMS.items()}
            return _lossless(arms, self._write_known)
        decode = Decoder(self._family.types[role]).decode
        return _lossless({bytes([b]): decode for b in ARRAYS}, self._write_known)

    def provers(self, role: str) -> list[Callable[[Any], Any]]:
        """Return readers of a role."""
        return [self.reader(role)]

    def parse(self, data: Data) -> Any:
        """Return the value of bytes; nothing in them is lost."""
        from changewire.codec.msgpack_parser import MalformedError, parse

        if isinstance(data, str):
            issue = Issue("", "invalid-msgpack", _RULE, "bytes", data)
            raise DecodeError(self._family.format, [issue])
        with suppress(*PARSER_ERRORS, ValueError):
            return self._parse_at_once(data)
        try:
            return parse(_as_bytes(data))
        except MalformedError as error:
            framed = framing_issue(_as_bytes(data), _RULE)
            issue, byte_offset = (framed, 0) if framed else (error.issue, error.byte_offset)
        except (RecursionError, MemoryError) as error:
            issue, byte_offset = unexplained(error, _RULE), None
        raise DecodeError(self._family.format, [issue], byte_offset)

    def check_names(self, data: Data, obj: object) -> None:
        """Refuse nothing: no message in MessagePack is an object."""

    def split(self, data: Data) -> list[Any] | None:
        """Return the elements of an array of arrays, or of an empty one; None for any other."""
        elements = self._elements(_as_bytes(data))
        if elements and memoryview(elements[0])[0] not in ARRAYS:
            return None
        return elements

    def texts(self, _data: Data) -> Mapping[str, msgspec.Raw]:
        """Return none: positions have no names, and models keep no text of them."""
        return {}

    def holds(self, value: object) -> bool:
        """Return whether a value has a form in MessagePack."""
        try:
            self.parse(self.write(value))
        except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
            return False
        return True


wire = MsgpackWire


def _has_extra(model: Any) -> bool:
    return "extra" in model.__struct_fields__


def _known(model: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function from a model to the positions that its schema names."""
    names = [name for name in model.__struct_fields__ if name != "extra"]
    if len(names) == 1:
        return lambda message: (getattr(message, names[0]),)
    return attrgetter(*names)


def _write_unknown(value: object) -> object:
    """Encode values of models only: positions that the schema does not name, nil if none."""
    if isinstance(value, Extra):
        return dict(value)
    return None if value is UNSET else write_ext_key(value)


def _lossless(
    decoders: Mapping[bytes, _Decode], write: Callable[[Any], bytes]
) -> Callable[[Any], Any]:
    """Return a reader, by the first bytes, that rejects bytes of which the model is not all."""
    size = len(next(iter(decoders), b""))

    def read(data: Any) -> Any:
        if type(data) is not bytes:
            data = _as_bytes(data)
        try:
            model = decoders[data[:size]](data)
        except (LookupError, ValueError):  # ValueError of a time that datetime does not reach
            raise msgspec.ValidationError from None
        if write(model) != data or (_MINUS_ONE in data and _may_hold_time(data)):
            raise msgspec.ValidationError
        return model

    return read


def _may_hold_time(data: bytes) -> bool:
    """Return whether there may be an extension type of code -1, of which msgspec makes a time."""
    return any(head in data for head in _TIMES)


def _as_bytes(data: Any) -> bytes:
    if isinstance(data, str):
        raise msgspec.DecodeError
    return memoryview(data).tobytes()
