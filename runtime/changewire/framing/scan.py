"""Where JSON values begin and end in a stream of bytes, without parsing them."""

import re
from collections.abc import Callable
from typing import ClassVar, Final, TypeAlias

from changewire.framing.record import Damage

BLANK: Final = b" \t\r\n"
NO_ARRAY: Final = "the input is not one JSON array; name the shape json-lines or json-concatenated"

# What can follow a value, up to the next one: in an array also commas.
_GAP: Final = re.compile(rb"[ \t\r\n]*")
_ARRAY_GAP: Final = re.compile(rb"[ \t\r\n,]*")
# A number, a literal, or junk.
_SCALAR: Final = re.compile(rb'[^ \t\r\n,{}\[\]"]*')
_STRING: Final = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
# Text and strings without escapes; a bracket pair that holds nothing else is hopped over as well.
_TEXT: Final = rb'[^"{}\[\]]*(?:"[^"\\]*"[^"{}\[\]]*)*'
_FLAT: Final = rb"(?:[{\[]" + _TEXT + rb"[}\]]" + _TEXT + rb")*"
# Ends behind an opening bracket (group 1), a closing one (group 2), or the quote of a string that
# has escapes or does not end in this chunk (group 3), else at the end of the chunk (no group).
_HOP: Final = re.compile(_TEXT + _FLAT + rb'(?:([{\[])|([}\]])|(")|\Z)')
_OPENING: Final = 1
_CLOSING: Final = 2
_QUOTE: Final = 3
_BACKSLASH: Final = ord("\\")


# Scans on from an index of a chunk, and returns where the next state begins.
_State: TypeAlias = Callable[["Scanner", bytes, int], int]


class Scanner:
    """Cuts a stream of JSON values, or the elements of one JSON array, into exact bytes.

    Chunks go into `feed`, which returns the values that ended in them; `pending` is the value
    that has begun and not ended. Strings are skipped and brackets are counted, not paired, so
    damage never loses a byte: each byte that is not blank (nor, of an array, its own brackets and
    the commas between its elements) is part of exactly one value. What follows the array is cut
    like a stream of values.
    """

    __slots__ = ("_begun", "_depth", "_done", "_escaped", "_gap", "_start", "_state", "pending")

    def __init__(self, *, array: bool = False) -> None:
        """Begin before the first value, or with `array` before the bracket that opens the array."""
        self.pending: bytearray = bytearray()
        self._state: _State = Scanner._before if array else Scanner._outside
        self._gap = _GAP
        self._done: list[bytes] = []
        self._begun = False
        self._start = 0
        self._depth = 0
        self._escaped = False

    @property
    def cut_off(self) -> bool:
        """Whether the array is still open although none of its elements visibly is."""
        return self._gap is _ARRAY_GAP and self._state in {Scanner._outside, Scanner._scalar}

    def feed(self, chunk: bytes) -> list[bytes]:
        """Scan the next `chunk` and return the values that ended in it.

        Raises:
            Damage: an array was announced and the input begins with something else.
        """
        self._start = 0
        at = 0
        while at < len(chunk):
            at = self._state(self, chunk, at)
        if self._begun:
            self.pending += chunk[self._start :]
        done, self._done = self._done, []
        return done

    # The states. Each goes on at `at`, sets the state that follows, and returns where that begins.

    def _before(self, chunk: bytes, at: int) -> int:
        at = _end(_GAP, chunk, at)
        if at == len(chunk):
            return at
        if chunk[at] != ord("["):
            raise Damage(NO_ARRAY)
        self._gap = _ARRAY_GAP
        self._state = Scanner._outside
        return at + 1

    def _outside(self, chunk: bytes, at: int) -> int:
        at = _end(self._gap, chunk, at)
        if at < len(chunk):
            self._begun = True
            self._start = at
            self._state = self._STATES.get(chunk[at], Scanner._scalar)
        return at

    def _opening(self, _chunk: bytes, at: int) -> int:
        self._depth = 1
        self._state = Scanner._inside
        return at + 1

    def _inside(self, chunk: bytes, at: int) -> int:
        depth = self._depth
        for hop in _HOP.finditer(chunk, at):
            if hop.lastindex == _OPENING:
                depth += 1
                continue
            at = hop.end()
            if hop.lastindex == _CLOSING:
                depth -= 1
                if depth:
                    continue
                self._ended(chunk, at)
            elif hop.lastindex == _QUOTE:
                self._state = Scanner._string
            break
        self._depth = depth
        return at

    def _quote(self, _chunk: bytes, at: int) -> int:
        self._state = Scanner._string
        return at + 1

    def _string(self, chunk: bytes, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        at = _end(_STRING, chunk, at)
        if at == len(chunk):
            return at
        if chunk[at] == _BACKSLASH:
            self._escaped = True
        elif self._depth:
            self._state = Scanner._inside
        else:
            self._ended(chunk, at + 1)
        return at + 1

    def _scalar(self, chunk: bytes, at: int) -> int:
        at = _end(_SCALAR, chunk, at)
        if at < len(chunk):
            self._ended(chunk, at)
        return at

    def _stray(self, chunk: bytes, at: int) -> int:
        self._ended(chunk, at + 1)
        return at + 1

    def _closing(self, chunk: bytes, at: int) -> int:
        if self._gap is _GAP:
            return self._stray(chunk, at)
        self._gap = _GAP
        self._begun = False
        self._state = Scanner._outside
        return at + 1

    def _ended(self, chunk: bytes, at: int) -> None:
        self._done.append(bytes(self.pending) + chunk[self._start : at])
        self.pending.clear()
        self._begun = False
        self._state = Scanner._outside

    # By the first byte of a value; any other begins a scalar.
    _STATES: ClassVar[dict[int, _State]] = {
        ord("{"): _opening,
        ord("["): _opening,
        ord('"'): _quote,
        ord("]"): _closing,
        ord("}"): _stray,
        ord(","): _stray,
    }


def _end(pattern: re.Pattern[bytes], chunk: bytes, at: int) -> int:
    found = pattern.match(chunk, at)
    return found.end() if found else at
