"""Positions of changes, and which of two changes is the newer one."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from changewire.framing import Position as RecordPosition
from changewire_messages.change import Change
from changewire_messages.change import Sequence as MessageSequence

Sequence = tuple[int, ...]
"""(major, minor) of a change; empty if it has none, which is before any other."""

NO_SEQUENCE: Final[Sequence] = ()


class ChangePosition(NamedTuple):
    """Where a change was read; positions compare from left to right.

    Attributes:
        topic: Kafka topic; for files their path. Empty if nothing is known.
        partition: Kafka partition; -1 for files.
        offset: Kafka offset; for files the number of the record.
        element: Index of the change in the batch that its message is, else 0.
    """

    topic: str
    partition: int
    offset: int
    element: int


class Order(NamedTuple):
    """What makes a change newer than another: its sequence, then its position."""

    sequence: Sequence
    position: ChangePosition


NOWHERE: Final = ChangePosition("", -1, -1, -1)
"""Before every position."""

OLDEST: Final = Order(NO_SEQUENCE, NOWHERE)
"""Before every change."""


class PositionedChange(msgspec.Struct, frozen=True):
    """A change or control event, and where it was read."""

    change: Change
    position: ChangePosition


def position_of(record: RecordPosition, element: int = 0) -> ChangePosition:
    """Return the position of a change by that of its record.

    Args:
        record: Place of the record; topic, partition and offset go before path and number.
        element: Index of the change in its message.
    """
    if record.topic is None:
        return _filled(record.path, None, record.number, element)
    return _filled(record.topic, record.partition, record.offset, element)


def position_in(row: Mapping[str, Any]) -> ChangePosition:
    """Return the position of a decoded row; each part that it lacks is taken from its file."""
    topic = row["path"] if row["topic"] is None else row["topic"]
    offset = row["number"] if row["offset"] is None else row["offset"]
    return _filled(topic, row["partition"], offset, row["element"])


def _filled(
    topic: str | None, partition: int | None, offset: int | None, element: int
) -> ChangePosition:
    """Return a position in which -1, or an empty topic, represents an unknown value."""
    return ChangePosition(
        topic or NOWHERE.topic,
        NOWHERE.partition if partition is None else partition,
        NOWHERE.offset if offset is None else offset,
        element,
    )


def sequence_of(sequence: MessageSequence | None) -> Sequence:
    """Return the sequence of a change as it compares; empty for None."""
    return NO_SEQUENCE if sequence is None else (sequence.major, sequence.minor)


def is_full_load(sequence: Sequence) -> bool:
    """Whether a sequence is the one of an initial load, whose rows all have (-1, 1)."""
    return bool(sequence) and sequence[0] < 0
