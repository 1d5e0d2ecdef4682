"""JSON text: bytes to models and plain values and back, and what a parser's rejection means."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal

import msgspec

from changewire.codec.family import GeneratedFamily
from changewire.codec.framed import framing_issue
from changewire.codec.issues import DecodeError, Issue
from changewire.codec.parser_texts import (
    BYTE,
    ESCAPE,
    OUT_OF_RANGE,
    SURROGATE,
    TRAILING,
    TRUNCATED,
)
from changewire.codec.places import Flat, name_beside, steps_of
from changewire.codec.unknown import UnknownProperties
from changewire.codec.wire import PARSER_ERRORS, Data, bytes_of, unexplained
from changewire_messages.flat_objects import entries_twice, entry_twice, gather
from changewire_messages.hooks import FloatHook, exact_number, read_unknown, write_unknown
from changewire_messages.support import Alone

_BLANK: Final = b" \t\r\n"
_NO_JSON: Final = b"\x00" * 16
"""Bytes that no JSON text has, longer than any part of a text that msgspec reads in one step."""
_TOKEN: Final = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)', re.DOTALL
)
"""A text, or a number outside of texts."""
_RULE: Final = "json"


class JsonWire:
    """A family as JSON text.

    `write` encodes the values of most models, `write_all` all that one can. Where what `read_back`
    parses equals what was written, what `parse` gives does too. `alone` is the typed decode of a
    message that is the value of a property alone, if the format has such.
    """

    rule = _RULE

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


def parse_json(data: Data, format: str, decode: Callable[[Any], Any]) -> Any:
    """Return the JSON value of bytes or text, by the decoder of a format."""
    try:
        return decode(data)
    except BufferError:
        return parse_json(bytes_of(data), format, decode)
    except PARSER_ERRORS as error:
        issue, byte_offset = _refusal(bytes_of(data), error, decode)
    raise DecodeError(format, [issue], byte_offset)


def _refusal(
    data: bytes, error: BaseException, decode: Callable[[Any], Any]
) -> tuple[Issue, int | None]:
    """Say why a parser rejected bytes; with the byte offset if it is known."""
    if not data.strip(_BLANK):
        return Issue("", "empty", _RULE, "one JSON value"), 0
    if (framed := framing_issue(data, _RULE)) is not None:
        return framed, 0
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or b"\x00" in data[:2]:
        return Issue("", "invalid-unicode", _RULE, "UTF-8 without byte order mark"), 0
    if isinstance(error, UnicodeError):
        return Issue("", "invalid-unicode", _RULE, "UTF-8"), _first_not_utf8(data)
    if isinstance(error, (RecursionError, MemoryError)) or OUT_OF_RANGE in str(error):
        return unexplained(error, _RULE), _first_out_of_range(data, error, decode)
    text = str(error)
    if TRUNCATED in text:
        text = _malformed_inside(data, decode) or text
    return _malformed(data, text)


def _malformed_inside(data: bytes, decode: Callable[[Any], Any]) -> str | None:
    """Return what is wrong inside of bytes that a parser called cut off; None if nothing is.

    msgspec calls them cut off where fewer bytes follow half of a surrogate pair than the other half
    has. With bytes behind them that no text has, it fails at the wrong bytes.
    """
    try:
        decode(data + _NO_JSON)
    except PARSER_ERRORS as error:
        text = str(error)
    else:
        return None
    byte = _byte_in(text)
    # Of a half pair it names the end; a backslash there may be where the other half begins.
    is_cut = byte is None or data[byte:] in {b"", b"\\"}
    return None if is_cut else text


def _byte_in(text: str) -> int | None:
    """Return the offset of the wrong byte; in an escape msgspec names the byte behind it."""
    found = BYTE.search(text)
    return int(found[1]) - (ESCAPE in text) if found else None


def _malformed(data: bytes, text: str) -> tuple[Issue, int | None]:
    """Say why bytes are not JSON, of which a parser said something in its own words."""
    byte = _byte_in(text)
    if SURROGATE in text:
        return Issue("", "invalid-unicode", _RULE, "whole surrogate pairs"), byte
    if TRUNCATED in text:
        return Issue("", "truncated", _RULE, "the rest of the message"), len(data)
    if TRAILING in text:
        return Issue("", "trailing-data", _RULE, "nothing after the message"), byte
    return Issue("", "invalid-json", _RULE, "a JSON value"), byte


def _first_out_of_range(
    data: bytes, error: BaseException, decode: Callable[[Any], Any]
) -> int | None:
    """Return where the first number is that a parser called out of range, if it did."""
    if OUT_OF_RANGE not in str(error):
        return None
    at = 0
    with suppress(*PARSER_ERRORS):
        for token in _TOKEN.finditer(data):
            at = token.start()
            decode(token["number"] or b"0")
    return at


def _first_not_utf8(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None
