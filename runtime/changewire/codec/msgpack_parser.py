"""The second MessagePack parser: slower than msgspec's, and it loses nothing.

It keeps every extension type as its bytes, also as the key of a map and with code -1, of which
msgspec makes a time. A map in which two keys are the same to Python is rejected. msgpack reads
scalars and headers; how far a length is trusted is decided here, by the bytes that there are.
"""

from typing import Any, Final

import msgpack
from msgspec.msgpack import Ext

from changewire.codec.issues import Issue
from changewire.codec.msgpack_values import hashable
from changewire.msgpack_heads import ARRAYS
from changewire_messages.support import key_token

RULE: Final = "msgpack"

_MAPS: Final = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))
_FIXED_EXTS: Final = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
"""Of the first byte of an extension type, its length."""
_COUNTED_EXTS: Final = {0xC7: 1, 0xC8: 2, 0xC9: 4}
"""Of the first byte of an extension type, how many bytes have its length."""


class MalformedError(Exception):
    """The bytes are not MessagePack, or Python has no value for them."""

    def __init__(self, issue: Issue, byte_offset: int | None) -> None:
        super().__init__(issue.code)
        self.issue = issue
        self.byte_offset = byte_offset


def parse(data: bytes) -> Any:
    """Return the value of bytes; an array that is the key of a map is a tuple."""
    parser = _Parser(data)
    if not data:
        raise parser.malformed("empty", "one MessagePack value")
    try:
        value = parser.value()
    except msgpack.FormatError:
        raise parser.malformed("invalid-msgpack", "a MessagePack value") from None
    except UnicodeDecodeError:
        raise parser.malformed("invalid-unicode", "UTF-8") from None
    except (msgpack.OutOfData, ValueError):  # or a length is more than there are bytes
        parser.start = len(data)
        raise parser.malformed("truncated", "the rest of the message") from None
    if parser.at < len(data):
        parser.start = parser.at
        raise parser.malformed("trailing-data", "nothing after the message")
    return value


class _Parser:
    """Reads one value after the other."""

    def __init__(self, data: bytes) -> None:
        self.start = 0
        self._data = data
        self._path: list[Any] = []
        limit = max(1, len(data))
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=limit)
        self._unpacker.feed(data)

    @property
    def at(self) -> int:
        return self._unpacker.tell()

    def value(self) -> Any:
        """Return the next value; one frame for each level, so that depth is what msgspec takes."""
        self.start = at = self.at
        first = self._data[at] if at < len(self._data) else None
        if first in ARRAYS:
            items: list[Any] = []
            for i in range(self._unpacker.read_array_header()):
                self._path.append(i)
                items.append(self.value())
                self._path.pop()
            return items
        if first in _MAPS:
            entries: dict[Any, Any] = {}
            for _ in range(self._unpacker.read_map_header()):
                key = self._key(self.value(), entries)
                self._path.append(key)
                entries[key] = self.value()
                self._path.pop()
            return entries
        if first in _FIXED_EXTS or first in _COUNTED_EXTS:
            return self._ext(at, self._data[at])
        return self._unpacker.unpack()

    def malformed(self, code: str, expected: str) -> MalformedError:
        """Return the error for the value that was begun last."""
        return MalformedError(Issue(self._pointer(), code, RULE, expected), self.start)

    def _pointer(self) -> str:
        return "".join(f"/{key_token(step)}" for step in self._path)

    def _ext(self, at: int, first: int) -> Ext:
        counted = _COUNTED_EXTS.get(first, 0)
        body = at + 1 + counted
        length = int.from_bytes(self._data[at + 1 : body], "big") if counted else _FIXED_EXTS[first]
        end = body + 1 + length
        if end > len(self._data):
            raise msgpack.OutOfData
        self._unpacker.read_bytes(end - at)
        code = int.from_bytes(self._data[body : body + 1], "big", signed=True)
        return Ext(code, self._data[body + 1 : end])

    def _key(self, value: Any, entries: dict[Any, Any]) -> Any:
        """Return the key of an entry as one that a dictionary takes, and does not have yet."""
        try:
            key = hashable(value)
        except TypeError:
            issue = Issue(self._pointer(), "wrong-type", RULE, "a key without a map in it", value)
            raise MalformedError(issue, None) from None
        if key in entries:
            place = f"{self._pointer()}/{key_token(key)}"
            issue = Issue(place, "duplicate-key", RULE, "a key that no other entry has", key)
            raise MalformedError(issue, None)
        return key
