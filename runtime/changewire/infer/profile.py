"""What values were seen at each place of rows: kinds and counts, and no value but bounds.

Memory is bounded: a hostile topic has other names in each message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from changewire.changes.connect.scalars import is_rounded, nearest_double

MOST_PLACES: Final = 20_000
"""Most places of all rows that are distinguished."""

MOST_NAMES: Final = 1000
"""Most properties of one object that are distinguished; one that has more is a map."""

DEEPEST: Final = 8
"""Most levels of objects and arrays that are distinguished."""

BOOLEAN, INTEGER, FLOAT, DECIMAL = "boolean", "integer", "float", "decimal"
STRING, BYTES, TIME, TEXT = "string", "bytes", "date-time", "text"
OBJECT, ARRAY, NULL, ANY = "object", "array", "null", "any"

_KINDS: Final[Mapping[type, str]] = {
    bool: BOOLEAN,
    int: INTEGER,
    float: FLOAT,
    Decimal: DECIMAL,
    str: STRING,
    bytes: BYTES,
    datetime: TIME,
    date: TEXT,
    time: TEXT,
    timedelta: TEXT,
    dict: OBJECT,
    list: ARRAY,
    type(None): NULL,
}
"""Kind of a value of a change; dates, times of day and durations are text in JSON."""

_INT64: Final = range(-(2**63), 2**63)
_SAFE: Final = 2**53


class TableError(ValueError):
    """The messages are of several tables, or of none, and no table was named."""


class Room:
    """How many more places may be distinguished, shared by all profiles."""

    def __init__(self, left: int = MOST_PLACES) -> None:
        self.left: int = left

    def take(self) -> bool:
        """Take one; return whether there was one."""
        self.left -= 1
        return self.left >= 0


class Profile:
    """What was seen at one place."""

    def __init__(self, room: Room, depth: int = 0) -> None:
        """Start with nothing; `depth` counts the objects and arrays around the place."""
        self.kinds: Counter[str] = Counter()
        self.declared: list[str] = []
        self.properties: dict[str, Profile] = {}
        self.items: Profile | None = None
        self.is_map: bool = False
        self.is_inexact: bool = False
        self.least: int | None = None
        self.greatest: int | None = None
        self._room, self._depth = room, depth

    @property
    def count(self) -> int:
        """How many values there were, null included."""
        return self.kinds.total()

    def add(self, value: Any) -> None:
        """Count a value, and its parts."""
        kind = _KINDS.get(type(value), ANY)
        if kind == INTEGER:
            kind = self._integer(value)
        elif kind == DECIMAL:
            self.is_inexact |= not value.is_finite() or is_rounded(nearest_double(value), value)
        elif kind in {OBJECT, ARRAY}:
            kind = self._inside(kind, value)
        self.kinds[kind] += 1

    def child(self, name: str) -> Profile | None:
        """Return the place of a property; None if the object is a map."""
        if self.is_map:
            return None
        if name not in self.properties:
            if len(self.properties) >= MOST_NAMES or not self._room.take():
                self.become_map()
                return None
            self.properties[name] = Profile(self._room, self._depth + 1)
        return self.properties[name]

    def inner(self) -> Profile:
        """Return the place of all items of arrays, or of all values of maps."""
        if self.items is None:
            self.items = Profile(self._room, self._depth + 1)
        return self.items

    def become_map(self) -> None:
        """Stop distinguishing the properties."""
        self.is_map = True
        inner = self.inner()
        for profile in self.properties.values():
            inner.absorb(profile)
        self.properties = {}

    def absorb(self, other: Profile) -> None:
        """Add what was seen at another place."""
        self.kinds.update(other.kinds)
        self.declared += [words for words in other.declared if words not in self.declared]
        self.is_inexact |= other.is_inexact
        for bound in (other.least, other.greatest):
            if bound is not None:
                self._bounds(bound)
        if other.is_map and not self.is_map:
            self.become_map()
        if other.items is not None:
            self.inner().absorb(other.items)
        for name, profile in other.properties.items():
            (self.child(name) or self.inner()).absorb(profile)

    def _integer(self, value: int) -> str:
        if value not in _INT64:
            return ANY
        self._bounds(value)
        self.is_inexact |= abs(value) > _SAFE
        return INTEGER

    def _bounds(self, value: int) -> None:
        self.least = value if self.least is None else min(self.least, value)
        self.greatest = value if self.greatest is None else max(self.greatest, value)

    def _inside(self, kind: str, value: Any) -> str:
        if self._depth >= DEEPEST:
            return ANY
        return self._object(value) if kind == OBJECT else self._array(value)

    def _object(self, value: dict[Any, Any]) -> str:
        if not all(type(name) is str for name in value):
            return ANY
        for name, held in value.items():
            (self.child(name) or self.inner()).add(held)
        return OBJECT

    def _array(self, value: list[Any]) -> str:
        inner = self.inner()
        for held in value:
            inner.add(held)
        return ARRAY
