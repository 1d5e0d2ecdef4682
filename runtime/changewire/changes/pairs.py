"""Updates that came as two messages, a before-image and an after-image, joined to one change."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from changewire.changes.identity import Identity, identity_of, is_one_row
from changewire_messages.change import Change, Source


class _Image(NamedTuple):
    """What both images of one update have in common, and which one it is."""

    source: Source
    major: int
    is_before: bool

    @property
    def other(self) -> "_Image":
        return self._replace(is_before=not self.is_before)


_Held = dict[int, tuple[_Image, Change]]
_Numbers = dict[_Image, deque[int]]


def pair(changes: Iterable[Change], *, size: int = 1000) -> Iterator[Change]:
    """Yield changes, with the two images of an update joined to one change.

    A system may send an update as two messages with one sequence number, one with the row before
    it and one with the row after it; as changes, one has only `before` and the minor
    sequence 0, the other only `after` and 1. The joined change is the one of the row after, with
    `before`, and with `before_key` if the key differs. `attributes` are those of both; if they
    differ, those of the row after.

    Images with one sequence number are joined if they have the same key, or if no others wait that
    may belong together. An image that repeats one of the last `size` is yielded at once.

    Other changes are yielded at once, in their order. A joined change is yielded in the place of
    its second image. An unpaired image waits for the other one. It is yielded as it is when `size`
    newer ones wait, before the change that replaced it, or at the end, in the order of arrival.

    Args:
        changes: The changes of one or more tables, as they were read.
        size: How many unpaired images may wait.

    Raises:
        ValueError: `size` is less than 1.
    """
    if size < 1:
        raise ValueError(f"size is at least 1, not {size}")
    return _paired(changes, size)


def _paired(changes: Iterable[Change], size: int) -> Iterator[Change]:
    held: _Held = {}  # by number, so in the order in which they came
    numbers: _Numbers = {}
    names: dict[tuple[_Image, Identity], None] = {}
    for number, change in enumerate(changes):
        image = _image(change)
        if image is None or _is_repeated(image, change, names, size):
            yield change
            continue
        found = _match(change, held, numbers.get(image.other, ()))
        if found is not None:
            yield _joined(change, _take(found, held, numbers))
            sides = image, image.other
            if all(len(numbers.get(side, ())) == 1 for side in sides):  # the last two
                yield _joined(*(_take(numbers[side][0], held, numbers) for side in sides))
            continue
        if len(held) == size:
            yield _take(next(iter(held)), held, numbers)
        held[number] = image, change
        numbers.setdefault(image, deque()).append(number)
    for _, change in held.values():
        yield change


def _image(change: Change) -> _Image | None:
    """Return which image of an update a change is; None if it has both, or is not an update."""
    order, is_before = change.sequence, change.after is None
    if change.op != "update" or order is None or is_before == (change.before is None):
        return None
    # All images of a full load would have the same number, and an after-image has minor 1.
    if order.major < 0 or order.minor != (0 if is_before else 1):
        return None
    return _Image(change.source, order.major, is_before)


def _is_repeated(
    image: _Image, change: Change, names: dict[tuple[_Image, Identity], None], size: int
) -> bool:
    """Return whether one of the last images has the key of this one, and note this one.

    A second time it would be joined with an image of another row.
    """
    if change.key is None:
        return False
    name = image, identity_of(change.key)
    if name in names:
        return True
    names[name] = None
    if len(names) > size:
        del names[next(iter(names))]
    return False


def _match(change: Change, held: _Held, candidates: Sequence[int]) -> int | None:
    """Return the number of the image with the same key, or else of the only one; None without."""
    for number in candidates:
        if is_one_row(held[number][1].key, change.key):
            return number
    return candidates[0] if len(candidates) == 1 else None


def _take(number: int, held: _Held, numbers: _Numbers) -> Change:
    """Return an image that waited, and forget it."""
    image, change = held.pop(number)
    numbers[image].remove(number)
    if not numbers[image]:
        del numbers[image]
    return change


def _joined(one: Change, other: Change) -> Change:
    """Return the two images of an update as one change."""
    before, after = (one, other) if one.after is None else (other, one)
    attributes: dict[str, Any] = {**before.attributes, **after.attributes}
    used = [*before.attributes.get("leniencies", ()), *after.attributes.get("leniencies", ())]
    if used:
        attributes["leniencies"] = used
    return replace(
        after,
        before=before.before,
        before_key=None if not after.key or is_one_row(before.key, after.key) else before.key,
        attributes=attributes,
    )
