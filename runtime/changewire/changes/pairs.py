"""Updates that came as two messages, the row before and the row after, made one change again."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from changewire_messages.change import Change, Source


class _Half(NamedTuple):
    """What the halves of one update have in common, and which one it is."""

    source: Source
    major: int
    is_before: bool

    @property
    def other(self) -> "_Half":
        return self._replace(is_before=not self.is_before)


_Place = TypeVar("_Place")
_Held = dict[int, tuple[_Half, _Place, Change]]


def pair(changes: Iterable[Change], *, size: int = 1000) -> Iterator[Change]:
    """Yield changes with the two halves of an update joined to one change.

    DataWorks may send an update as two messages that share their ``sequenceId``, one with the row
    before it and one with the row after it; as changes, one has only `before` and the minor
    sequence 0, the other only `after` and 1. The joined change is the one of the row after, with
    `before`, and with `before_key` where the key differs. `attributes` are those of both; where
    they differ, those of the row after.

    Changes that are no half come out at once, in the order in which they came. A joined change
    comes where its second half came. A half waits for the other one; it comes out as it is when
    `size` newer ones wait, before the change that pushed it out, or at the end: those that were
    left come in the order in which they came.

    Args:
        changes: The changes of one or more tables, as they were read.
        size: How many halves may wait.

    Raises:
        ValueError: `size` is less than 1.
    """
    found = pair_placed(((None, change) for change in changes), size=size)
    return (change for _, change in found)


def pair_placed(
    changes: Iterable[tuple[_Place, Change]], *, size: int
) -> Iterator[tuple[_Place, Change]]:
    """Return what `pair` does, each change with its place: a joined one has that of the row after.

    Args:
        changes: The changes, each with what says where it was read.
        size: How many halves may wait.

    Raises:
        ValueError: `size` is less than 1.
    """
    if size < 1:
        raise ValueError(f"size is at least 1, not {size}")
    return _paired(changes, size)


def _paired(changes: Iterable[tuple[_Place, Change]], size: int) -> Iterator[tuple[_Place, Change]]:
    held: _Held[_Place] = {}  # by number, so in the order in which they came
    numbers: dict[_Half, deque[int]] = {}
    for number, (place, change) in enumerate(changes):
        half = _half(change)
        if half is None:
            yield place, change
            continue
        found = _match(change, held, numbers.get(half.other, ()))
        if found is not None:
            there, other = _take(found, held, numbers)
            yield (
                (there, _joined(change, other))
                if half.is_before
                else (place, _joined(other, change))
            )
            continue
        if len(held) == size:
            yield _take(next(iter(held)), held, numbers)
        held[number] = half, place, change
        numbers.setdefault(half, deque()).append(number)
    for _, place, change in held.values():
        yield place, change


def _half(change: Change) -> _Half | None:
    """Return which half of an update a change is; None where it is none."""
    order, is_before = change.sequence, change.after is None
    if change.op != "update" or order is None or is_before == (change.before is None):
        return None
    # The halves of a full load would all have the same number, and a lone row after is minor 1.
    if order.major < 0 or order.minor != (0 if is_before else 1):
        return None
    return _Half(change.source, order.major, is_before)


def _match(change: Change, held: _Held[_Place], candidates: Iterable[int]) -> int | None:
    """Return the number of the half with the same key, or else of the first; None without any."""
    first = None
    for number in candidates:
        if held[number][2].key == change.key:
            return number
        first = number if first is None else first
    return first


def _take(
    number: int, held: _Held[_Place], numbers: dict[_Half, deque[int]]
) -> tuple[_Place, Change]:
    """Return a half that waited, and forget it."""
    half, place, change = held.pop(number)
    numbers[half].remove(number)
    if not numbers[half]:
        del numbers[half]
    return place, change


def _joined(before: Change, after: Change) -> Change:
    attributes: dict[str, Any] = {**before.attributes, **after.attributes}
    used = [*before.attributes.get("leniencies", ()), *after.attributes.get("leniencies", ())]
    if used:
        attributes["leniencies"] = used
    return replace(
        after,
        before=before.before,
        before_key=before.key if after.key and before.key != after.key else None,
        attributes=attributes,
    )
