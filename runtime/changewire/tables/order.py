"""Places of changes, and which of two changes is the newer one."""

from typing import Final, NamedTuple

import msgspec

from changewire.framing import Position as RecordPosition
from changewire_messages.change import Change
from changewire_messages.change import Sequence as MessageSequence

Sequence = tuple[int, ...]
"""(major, minor) of a change; empty where it has none, which is before any other."""

NO_SEQUENCE: Final[Sequence] = ()


class Position(NamedTuple):
    """Where a change was read; positions compare from left to right.

    Attributes:
        topic: Kafka topic; for files their path. Empty where nothing is known.
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
    position: Position


NOWHERE: Final = Position("", -1, -1, -1)
"""Before every position."""

OLDEST: Final = Order(NO_SEQUENCE, NOWHERE)
"""Before every change."""


class Placed(msgspec.Struct, frozen=True):
    """A change or control event, and where it was read."""

    change: Change
    position: Position


def position_of(record: RecordPosition, element: int = 0) -> Position:
    """Return the position of a change by that of its record.

    Args:
        record: Where the record stood; topic, partition and offset go before path and number.
        element: Index of the change in its message.
    """
    if record.topic is not None:
        return Position(
            record.topic,
            -1 if record.partition is None else record.partition,
            -1 if record.offset is None else record.offset,
            element,
        )
    return Position(record.path or "", -1, -1 if record.number is None else record.number, element)


def sequence_of(sequence: MessageSequence | None) -> Sequence:
    """Return the sequence of a change as it compares; empty for None."""
    return NO_SEQUENCE if sequence is None else (sequence.major, sequence.minor)


def is_full_load(sequence: Sequence) -> bool:
    """Whether a sequence is the one of an initial load, whose rows all have (-1, 1)."""
    return bool(sequence) and sequence[0] < 0
