"""What a run did, in numbers; the law that nothing is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER
from changewire.tables.names import NO_TABLE

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NAMED = 1000
"""Tables, or hours, that a report names at most; a hostile stream has as many as it likes."""

OTHER_TABLES = "(other tables)"
OTHER_HOURS = "(other hours)"
NO_TIME = "(no time)"


class ConservationError(RuntimeError):
    """Decoded rows do not add up: an element was lost or counted twice. Nothing was committed."""


@dataclass
class Counts:
    """How many messages, elements and rows of each kind there were.

    Attributes:
        messages: Records that were read.
        elements: Elements of all messages; a message that cannot be read is one element.
        changes: Elements that change a row.
        controls: Elements that are control events.
        dead_letters: Elements that were rejected.
        by_operation: Changes and control events by operation.
        by_table: Changes and control events by database, schema and table, joined by dots.
        by_hour: Changes and control events by the hour of their event time, in UTC.
        by_error_code: Dead letters by the code of their first reason.
        leniencies: Uses of each leniency by name.
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
    _rows: Counter[str | None] = field(default_factory=Counter)

    def add(self, group: Mapping[str, Any]) -> None:
        """Add a group of decoded rows.

        Args:
            group: ``kind``, ``op``, ``database``, ``schema``, ``table``, ``hour`` (hours since the
                Unix epoch) and ``code`` of its rows, and how many ``rows``, ``messages`` and
                ``elements`` (as the messages declare) they are.
        """
        rows = group["rows"]
        self._rows[group["kind"]] += rows
        self.messages += group["messages"]
        self.elements += group["elements"]
        if group["kind"] == DEAD_LETTER:
            self.by_error_code[group["code"]] += rows
        else:
            self.by_operation[group["op"]] += rows
            self.by_table[_table(group)] += rows
            self.by_hour[_hour(group["hour"])] += rows

    def checked(self) -> Counts:
        """Fill in the totals and return the counts.

        Raises:
            ConservationError: ``elements = changes + controls + dead_letters`` does not hold.
        """
        self.changes = self._rows[CHANGE]
        self.controls = self._rows[CONTROL]
        self.dead_letters = self._rows[DEAD_LETTER]
        found = self.changes + self.controls + self.dead_letters
        rows = sum(self._rows.values())
        if self.elements != found or rows != found:
            raise ConservationError(
                f"the messages have {self.elements} elements, decoded were {rows}: "
                f"{self.changes} changes, {self.controls} control events, "
                f"{self.dead_letters} dead letters"
            )
        return self

    def add_all(self, other: Counts) -> None:
        """Add checked counts, such as those of a batch; names stay bounded however many come."""
        for name in ("messages", "elements", "changes", "controls", "dead_letters"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("by_operation", "by_table", "by_hour", "by_error_code", "leniencies"):
            getattr(self, name).update(getattr(other, name))
        self._rows.update(other._rows)
        self.by_table = _bounded(self.by_table, OTHER_TABLES)
        self.by_hour = _bounded(self.by_hour, OTHER_HOURS)

    def of_kind(self, kind: str) -> int:
        """Return how many rows of a kind there were."""
        return self._rows[kind]

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values, largest first; the hours in their order."""
        return {
            "messages": self.messages,
            "elements": self.elements,
            "changes": self.changes,
            "controls": self.controls,
            "dead_letters": self.dead_letters,
            "by_operation": _largest(self.by_operation),
            "by_table": _largest(_bounded(self.by_table, OTHER_TABLES)),
            "by_hour": dict(sorted(_bounded(self.by_hour, OTHER_HOURS).items())),
            "by_error_code": _largest(self.by_error_code),
            "leniencies": _largest(self.leniencies),
        }


def _table(group: Mapping[str, Any]) -> str:
    parts = [group[name] for name in ("database", "schema", "table")]
    return ".".join(part for part in parts if part is not None) or NO_TABLE


def _hour(hours: int | None) -> str:
    if hours is None:
        return NO_TIME
    return (_EPOCH + timedelta(hours=hours)).strftime("%Y-%m-%d %H:00")


def _bounded(counter: Counter[str], rest: str) -> Counter[str]:
    if len(counter) <= _NAMED + (rest in counter):
        return counter
    named = Counter({name: count for name, count in counter.items() if name != rest})
    kept = Counter(dict(named.most_common(_NAMED)))
    kept[rest] = sum(counter.values()) - sum(kept.values())
    return kept


def _largest(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
