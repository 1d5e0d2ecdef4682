"""The changes of a batch of decoded rows: where each goes, and what it does to which row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from changewire.engines.effects import EFFECTS
from changewire.engines.halves import READ, wholes
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER
from changewire.tables.apply import TRUNCATE
from changewire.tables.order import NOWHERE, OLDEST, Order, Position
from changewire.tables.routing import REFUSALS, Refusal
from changewire.tables.ways import From, way_of
from changewire_messages.change import Source

_PLACE: Final = ("topic", "partition", "offset", "path", "number")
_READ: Final = ("op", "source", "sequence", EFFECTS, "after", "element", *_PLACE)


class Changed(Struct, frozen=True):
    """A change, or a truncate, of a batch.

    Attributes:
        index: Its row in the batch.
        way: Where it comes from, and what it does.
        has_key: Whether it names a row.
        sequence: Its major and minor; None where it has none.
        position: Where it was read.
        effects: What it does, as columns of `changewire.engines.effects.EFFECT`.
        after: The row after it, JSON text.
    """

    index: int
    way: From
    has_key: bool
    sequence: Mapping[str, int] | None
    position: Position
    effects: list[dict[str, Any]]
    after: str | None

    @property
    def is_truncate(self) -> bool:
        """Whether it is a truncate."""
        return self.way[1] == TRUNCATE

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield its effects with its source, its place and the row after it."""
        for effect in self.effects:
            place = self.position._asdict()
            yield {**effect, **place, "source": self.way[0], "after": self.after}


def changes_of(rows: pa.Table, *, with_truncates: bool) -> list[Changed]:
    """Return the changes of a batch, and its truncates if they are applied.

    Args:
        rows: Decoded rows with effects.
        with_truncates: Whether truncates are applied.
    """
    chosen = pc.equal(rows["kind"], CHANGE)
    if with_truncates:
        is_truncate = pc.equal(rows["op"], TRUNCATE)
        chosen = pc.or_(chosen, pc.and_kleene(pc.equal(rows["kind"], CONTROL), is_truncate))
    indices = pc.indices_nonzero(pc.fill_null(chosen, False))  # noqa: FBT003 - a value of Arrow
    table = rows.select([*_READ]).append_column("has_key", pc.is_valid(rows["key"])).take(indices)
    return [
        _changed(index, row)
        for index, row in zip(indices.to_pylist(), _dictionaries(table), strict=True)
    ]


def _dictionaries(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches():
        yield from batch.to_pylist()


def _changed(index: int, row: Mapping[str, Any]) -> Changed:
    return Changed(
        index=index,
        way=(Source(**row["source"]), way_of(row["op"])),
        has_key=row["has_key"],
        sequence=row["sequence"],
        position=_position(row),
        effects=row[EFFECTS] or [],
        after=row["after"],
    )


def _position(row: Mapping[str, Any]) -> Position:
    """Return the place of a row, as the Spark engine has it."""
    topic = _first(row["topic"], row["path"], "")
    offset = _first(row["offset"], row["number"], NOWHERE.offset)
    return Position(topic, _first(row["partition"], NOWHERE.partition), offset, row["element"])


def _first(*values: Any) -> Any:
    """Return the first value that is not None."""
    return next(value for value in values if value is not None)


class Joined(NamedTuple):
    """Changes whose halves of updates were joined.

    Attributes:
        changes: The changes; one whose halves cannot be joined is as it was.
        number: How many updates had both halves.
        failures: Why halves cannot be joined, by the row of the one after the update.
    """

    changes: list[Changed]
    number: int
    failures: dict[int, Refusal]


def with_wholes(changes: Sequence[Changed], rows: pa.Table) -> Joined:
    """Return changes of which a row after an update does what it does with the row before it.

    Args:
        changes: Changes, and truncates that are applied.
        rows: The batch that they are of.
    """
    found = {whole.position: whole for whole in wholes(_halves(changes, rows))}
    joined: list[Changed] = []
    failures: dict[int, Refusal] = {}
    for change in changes:
        whole = found.get(change.position)
        if whole is not None and whole.failure is not None:
            failures[change.index] = whole.failure
        effects = None if whole is None else whole.effects
        joined.append(change if effects is None else replace(change, effects=effects))
    return Joined(joined, len(found), failures)


def _halves(changes: Iterable[Changed], rows: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the updates that have one image, with their places."""
    those = {change.index: change.position for change in changes if change.has_key}
    updates = rows.select([*READ, "op"]).take(pa.array(those, pa.int64()))
    for place, row in zip(those.values(), _dictionaries(updates), strict=True):
        if row["op"] == "update" and (row["before"] is None) != (row["after"] is None):
            yield {**row, **place._asdict()}


def ways_of(changes: Iterable[Changed]) -> set[From]:
    """Return where the changes come from that concern tables."""
    return {change.way for change in changes if change.has_key or change.is_truncate}


def counts_of(changes: Iterable[Changed]) -> Counter[str]:
    """Return how many changes concern no row, by the reason."""
    counts: Counter[str] = Counter()
    for change in changes:
        if not change.is_truncate:
            counts["key_missing"] += not change.has_key
            counts["lone_before_unused"] += change.has_key and not change.effects
    return counts


def newest_truncate(changes: Iterable[Changed], ways: Collection[From]) -> Order:
    """Return the order of the newest truncate that comes from some sources."""
    orders = (
        Order((change.sequence["major"], change.sequence["minor"]), change.position)
        for change in changes
        if change.is_truncate and change.sequence is not None and change.way in ways
    )
    return max(orders, default=OLDEST)


def refusals(changes: Iterable[Changed], refused: Mapping[From, Refusal]) -> dict[int, Refusal]:
    """Return why changes cannot be applied, by their rows.

    Args:
        changes: Changes, and truncates that are applied.
        refused: Why none can that comes from there.
    """
    found: dict[int, Refusal] = {}
    for change in changes:
        if change.way in refused and (change.has_key or change.is_truncate):
            found[change.index] = refused[change.way]
        elif change.is_truncate and change.sequence is None:
            found[change.index] = REFUSALS["truncate-without-sequence"]
    return found


def as_dead_letters(rows: pa.Table, why: Mapping[int, Refusal], format: str) -> pa.Table:
    """Return decoded rows in which changes that cannot be applied are dead letters.

    Args:
        rows: Decoded rows, with the messages of all of them.
        why: Why, by row.
        format: Public name of the messages' format.
    """
    letters = [_letter(why.get(index), format) for index in range(len(rows))] if why else []
    if not letters:
        return rows
    is_refused = pa.array([letter is not None for letter in letters])
    for name in ("kind", "format", "code", "pointer", "message"):
        values = pa.array([letter and letter[name] for letter in letters], pa.string())
        place = rows.schema.get_field_index(name)
        column = pc.if_else(is_refused, values, rows[name].cast(pa.string()))
        rows = rows.set_column(place, rows.schema.field(name), column.cast(rows[name].type))
    return rows


def _letter(refusal: Refusal | None, format: str) -> dict[str, str] | None:
    if refusal is None:
        return None
    return {
        "kind": DEAD_LETTER,
        "format": format,
        "code": refusal.code,
        "pointer": refusal.pointer,
        "message": refusal.text,
    }
