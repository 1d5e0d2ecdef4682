"""What a run did, in numbers; the law that nothing is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from changewire.changes.sources import NO_TABLE
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, MESSAGE
from changewire.engines.native import KernelCounts

if TYPE_CHECKING:
    from typing_extensions import Self  # typing has it since 3.11

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NAMED = 1000
"""Tables, or hours, that a report names at most; a hostile stream has as many as it likes."""

OTHER_TABLES = "(other tables)"
OTHER_HOURS = "(other hours)"
_OTHERS = {"by_table": OTHER_TABLES, "by_hour": OTHER_HOURS}
BEFORE_IMAGE = "update (before image)"
"""Operation of an update's before image that came as a message of its own."""

NO_TIME = "(no time)"
NO_VALUE = "(no value)"


class ConservationError(RuntimeError):
    """Decoded rows do not add up: an element was lost or counted twice.

    The batch or run in which this happens writes nothing. A stream also compares the rows that its
    source delivered with those that were decoded, once their batch is written.
    """


@dataclass
class Counts:
    """How many messages, elements and rows of each kind there were.

    Attributes:
        messages: Records that were read.
        elements: Elements of all messages; a message that cannot be read is one element.
        changes: Elements that change a row.
        controls: Elements that are control events.
        dead_letters: Elements that were rejected.
        by_operation: Changes and control events by operation; before images that came as messages
            of their own are `BEFORE_IMAGE`.
        by_table: Changes and control events by database, schema and table, joined by dots.
        by_hour: Changes and control events by the hour of their event time, in UTC.
        by_error_code: Dead letters by the code of their first reason.
        leniencies: Uses of each leniency by name.
        native: Work of the native kernel; None if it took no part, or it is not known.
    """

    messages: int = 0
    elements: int = 0
    changes: int = 0
    controls: int = 0
    dead_letters: int = 0
    by_operation: Counter[str] = field(default_factory=Counter)
    by_table: Counter[str] = field(default_factory=Counter)
    by_hour: Counter[str] = field(default_factory=Counter)
    by_error_code: Counter[str] = field(default_factory=Counter)
    leniencies: Counter[str] = field(default_factory=Counter)
    native: KernelCounts | None = None
    _rows: Counter[str | None] = field(default_factory=Counter)

    kinds: ClassVar[dict[str, tuple[str, str]]] = {
        "changes": (CHANGE, "changes"),
        "controls": (CONTROL, "control events"),
        "dead_letters": (DEAD_LETTER, "dead letters"),
    }
    """Kind of row of each total, and its name in words. Elements are their sum."""

    maps: ClassVar[tuple[str, ...]] = (
        *("by_operation", "by_table", "by_hour"),
        *("by_error_code", "leniencies"),
    )
    """The counts by name."""

    def add(self, group: Mapping[str, Any]) -> None:
        """Add a group of decoded rows of one kind, code and what `_add_named` takes.

        The group says how many ``rows``, ``messages`` and ``elements`` they are.
        """
        rows = group["rows"]
        self._rows[group["kind"]] += rows
        self.messages += group["messages"]
        self.elements += group["elements"]
        if group["kind"] == DEAD_LETTER:
            self.by_error_code[group["code"]] += rows
        else:
            self._add_named(group, rows)

    def _add_named(self, group: Mapping[str, Any], rows: int) -> None:
        """Add rows by ``op``, ``database``, ``schema``, ``table`` and ``hour`` (since 1970).

        ``is_before`` says that they are before images without their after images.
        """
        self.by_operation[BEFORE_IMAGE if group.get("is_before") else group["op"]] += rows
        self.by_table[_table(group)] += rows
        self.by_hour[_hour(group["hour"])] += rows

    def checked(self, pending: int = 0) -> Self:
        """Fill in the totals and return the counts.

        `pending` is how many elements of the last message are still to come.

        Raises:
            ConservationError: The elements are not the sum of the rows of all kinds.
        """
        for name, (kind, _) in self.kinds.items():
            setattr(self, name, self._rows[kind])
        found = sum(number for number, _ in self.totals())
        rows = sum(self._rows.values())
        if self.elements != found + pending or rows != found:
            parts = ", ".join(f"{number} {words}" for number, words in self.totals())
            raise ConservationError(
                f"the messages have {self.elements} elements, decoded were {rows}: {parts}"
            )
        return self

    def totals(self) -> list[tuple[int, str]]:
        """Return how many elements of each kind there were, and the kind in words."""
        return [(getattr(self, name), words) for name, (_, words) in self.kinds.items()]

    def add_all(self, other: Counts) -> None:
        """Add checked counts, such as those of a batch; names stay bounded however many come."""
        for name in ("messages", "elements", *self.kinds):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in self.maps:
            setattr(self, name, _bounded(name, getattr(self, name) + getattr(other, name)))
        self._rows.update(other._rows)
        if other.native is not None:
            self.native = other.native if self.native is None else self.native.plus(other.native)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values, largest first; the hours in their order."""
        return {
            **{name: getattr(self, name) for name in ("messages", "elements", *self.kinds)},
            **{name: _sorted(name, _bounded(name, getattr(self, name))) for name in self.maps},
        }


@dataclass
class MessageCounts(Counts):
    """How many messages there were that are kept as they are: none is a change or a control event.

    Attributes:
        valid: Elements that are not dead letters.
        by_variant: The same by variant.
    """

    valid: int = 0
    by_variant: Counter[str] = field(default_factory=Counter)

    kinds: ClassVar[dict[str, tuple[str, str]]] = {
        "valid": (MESSAGE, "valid"),
        "dead_letters": (DEAD_LETTER, "dead letters"),
    }
    maps: ClassVar[tuple[str, ...]] = ("by_variant", "by_error_code", "leniencies")

    def _add_named(self, group: Mapping[str, Any], rows: int) -> None:
        self.by_variant[group["variant"] or NO_VALUE] += rows


def _table(group: Mapping[str, Any]) -> str:
    parts = [group[name] for name in ("database", "schema", "table")]
    return ".".join(part for part in parts if part is not None) or NO_TABLE


@lru_cache(maxsize=4096)
def _hour(hours: int | None) -> str:
    if hours is None:
        return NO_TIME
    return (_EPOCH + timedelta(hours=hours)).strftime("%Y-%m-%d %H:00")


def _bounded(name: str, counter: Counter[str]) -> Counter[str]:
    rest = _OTHERS.get(name)
    if rest is None or len(counter) <= _NAMED + (rest in counter):
        return counter
    named = Counter({name: count for name, count in counter.items() if name != rest})
    kept = Counter(dict(named.most_common(_NAMED)))
    kept[rest] = sum(counter.values()) - sum(kept.values())
    return kept


def _sorted(name: str, counter: Counter[str]) -> dict[str, int]:
    if name == "by_hour":
        return dict(sorted(counter.items()))
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
