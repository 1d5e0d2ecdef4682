"""JSON text: bytes to models and plain values and back."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from changewire.codec.family import GeneratedFamily
from changewire.codec.issues import DecodeError, Issue
from changewire.codec.json_parser import RULE, parse_json
from changewire.codec.places import Flat, name_beside, steps_of
from changewire.codec.unknown import UnknownProperties
from changewire.codec.wire import Data, bytes_of
from changewire_messages.flat_objects import entries_twice, entry_twice, gather
from changewire_messages.hooks import FloatHook, exact_number, read_unknown, write_unknown
from changewire_messages.support import Alone


class JsonWire:
    """A family as JSON text.

    `write` encodes the values of most models, `write_all` all that one can. Where what `read_back`
    parses equals what was written, what `parse` gives does too. `alone` is the typed decode of a
    message that is the value of a property alone, if the format has such.
    """

    rule = RULE

    def __init__(self, family: GeneratedFamily) -> None:
        self._family = family
        self._members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
        self._elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
        self._float_hook: FloatHook = exact_number if family.exact else None
        self._plain = msgspec.json.Decoder(float_hook=self._float_hook).decode
        self.alone: Callable[[Any], Any] | None = (
            self._alone_reader(family.alone) if family.alone and not family.has_times else None
        )
        self.unknown: UnknownProperties | None = None
        if family.flat is None:
            self.unknown = UnknownProperties(family.arms, self._float_hook)
        decimals: Literal["number", "string"] = "number" if family.exact else "string"
        self._write: Callable[[Any], bytes] = msgspec.json.Encoder(decimal_format=decimals).encode
        self.write: Callable[[Any], bytes] = (
            self._write if family.flat is None else self._write_flat
        )
        self.write_all: Callable[[Any], bytes] = msgspec.json.Encoder(
            enc_hook=write_unknown, decimal_format=decimals
        ).encode
        # Inexact numbers are as good here as in `provers`.
        self.read_back: Callable[[bytes], Any] = msgspec.json.Decoder().decode

    def reader(self, role: str) -> Callable[[Any], Any]:
        """Return the typed decode of a role."""
        flat = self._family.flat
        if self._family.has_times:
            return partial(self._read_checked, role)
        if flat is not None and role == "message":
            return partial(self._read_flat, flat)
        if flat is not None and role == "batch":
            return lambda data: [self._gathered(flat, item) for item in self._plain(data)]
        return msgspec.json.Decoder(self._family.types[role], float_hook=self._float_hook).decode

    def provers(self, role: str) -> list[Callable[[Any], Any]]:
        """Return readers of a role, the quickest first.

        Without exact numbers a decimal may be read as another number, never as one that equals it
        and is not: Python compares them exactly.
        """
        if self._float_hook is None or self._family.flat or self._family.has_times:
            return [self.reader(role)]
        return [msgspec.json.Decoder(self._family.types[role]).decode, self.reader(role)]

    def _alone_reader(self, name: str) -> Callable[[Any], Any]:
        """Return the typed decode of a message that is the value of a property alone."""
        decode = msgspec.json.Decoder(self._family.alone_type, float_hook=self._float_hook).decode
        model, alone = self._family.types["message"], Alone(name)
        return lambda data: model(**{name: decode(data), "alone": alone})

    def _read_checked(self, role: str, data: Any) -> Any:
        """Return the model of a role with times, of which the typed decode reads more forms."""
        obj = self._plain(data)
        if role == "message" and self._family.is_batch(obj):
            raise ValueError
        self.check_names(data, obj)
        return self._family.build(obj, role, self.texts(data) if role == "message" else None)

    def _read_flat(self, flat: Flat, data: Any) -> Any:
        """Return the model of a message with inlined map entries."""
        obj = self._plain(data)
        if entry_twice(bytes_of(data), obj) is not None:
            raise ValueError
        return self._gathered(flat, obj)

    def _gathered(self, flat: Flat, obj: Any) -> Any:
        """Return the model of a parsed message with inlined map entries."""
        gather(obj, *flat)
        return msgspec.convert(obj, self._family.types["message"], dec_hook=read_unknown)

    def _write_flat(self, value: Any) -> bytes:
        """Return the bytes of a value; refuse, with any exception, what needs a second look."""
        kind, flat = self._family.arms[0], self._family.flat
        if isinstance(value, list):
            value = [_scattered(item, flat) if type(item) is kind else item for item in value]
        return self._write(_scattered(value, flat) if type(value) is kind else value)

    def parse(self, data: Data) -> Any:
        """Return the JSON value of bytes or text."""
        return parse_json(data, self._family.format, self._plain)

    def check_names(self, data: Data, obj: object) -> None:
        """Refuse two entries of one name at the root: parsing to `obj` has lost one of them.

        Only in a format with inlined map entries, also in messages of a batch.
        """
        if self._family.flat is None:
            return
        issues = entries_twice(bytes_of(data), obj)
        if issues:
            raise DecodeError(
                self._family.format,
                [Issue(at, "duplicate-key", rule, words) for at, rule, words, _ in issues],
            )

    def split(self, data: Data) -> list[Any] | None:
        """Return the elements of an array; any array is a batch."""
        return self._elements(data.tobytes() if isinstance(data, memoryview) else data)

    def texts(self, data: Data) -> Mapping[str, msgspec.Raw]:
        """Return the properties of which a model keeps the text."""
        if not self._family.texts:
            return {}
        members = self._members(data)
        return {name: members[name] for name in self._family.texts if name in members}

    def holds(self, value: object) -> bool:
        """Return whether a value has a form in JSON."""
        try:
            msgspec.json.decode(self.write_all(value))
        except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
            return False
        return True


def _scattered(message: Any, flat: Any) -> dict[str, Any]:
    """Return a message with the entries of its map instead of the map."""
    if message.extra is not msgspec.UNSET:
        raise ValueError
    kind: Any = type(message)
    names = {step: field for field, step in steps_of(kind).items()}
    name, entries = name_beside(message, flat), getattr(message, names[flat[1]])
    found = {name: getattr(message, names[flat[0]]), **entries}
    if len(found) <= len(entries):
        raise ValueError
    return found


wire = JsonWire
