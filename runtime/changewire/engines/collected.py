"""Decoded rows as a batch of changes, and the dead letters that some of them become."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import asdict

from changewire.engines.changelog.logged import LOGGED, LoggedChange, logged
from changewire.engines.effects import EFFECTS, IMAGES, images, mutation_of, rows_of
from changewire.engines.json_rows import unpacked
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, RECORD_PLACE
from changewire.tables.batch import (
    BatchChange,
    KeyedMutation,
    Repaired,
    RowBatch,
    paired_updates,
)
from changewire.tables.mutations import DELETE
from changewire.tables.order import Order, position_in
from changewire.tables.routing import TRUNCATE, Refusal, RouteKey, apply_failed, route_op
from changewire_messages.change import Source

_PLACE: Final = (*RECORD_PLACE, "element")
_READ: Final = ("op", "source", "sequence", EFFECTS, "after", *_PLACE)


def batch_of(rows: pa.Table, *, with_truncates: bool) -> RowBatch:
    """Return the changes of decoded rows with `EFFECTS`, and truncates if those are applied."""
    chosen = pc.equal(rows["kind"], CHANGE)
    if with_truncates:
        is_truncate = pc.equal(rows["op"], TRUNCATE)
        chosen = pc.or_(chosen, pc.and_kleene(pc.equal(rows["kind"], CONTROL), is_truncate))
    indices = pc.indices_nonzero(pc.fill_null(chosen, False))  # noqa: FBT003 - a value of Arrow
    table = rows.select([*_READ]).append_column("has_key", pc.is_valid(rows["key"])).take(indices)
    found = zip(indices.to_pylist(), _dictionaries(table), strict=True)
    return RowBatch([_change(index, row) for index, row in found], partial(_paired, rows))


def _dictionaries(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches():
        yield from batch.to_pylist()


def _change(index: int, row: dict[str, Any]) -> BatchChange:
    sequence = row["sequence"]
    numbers = () if sequence is None else (sequence["major"], sequence["minor"])
    return BatchChange(
        index=index,
        route=(Source(**row["source"]), route_op(row["op"])),
        has_key=row["has_key"],
        order=Order(numbers, position_in(row)),
        mutations=_mutations(index, row, row[EFFECTS] or ()),
    )


def _mutations(
    index: int, row: dict[str, Any], effects: Iterable[dict[str, Any]]
) -> list[KeyedMutation] | Refusal:
    """Return what a change does, or why its row cannot be read."""
    place = position_in(row)._asdict()
    try:
        return [keyed_mutation({**one, **place, "after": row["after"]}, index) for one in effects]
    except Exception as error:  # noqa: BLE001 - one change must not end the run
        return apply_failed(error, "/after", "reading the row")


def keyed_mutation(row: Mapping[str, Any], index: int | None) -> KeyedMutation:
    """Return a mutation whose columns are JSON text.

    Args:
        row: Columns of `EFFECT` and of the position, and ``after``.
        index: Row of the change in its batch; None for a change of an earlier batch.
    """
    after = None if row["kind"] == DELETE else row["after"]
    values = {} if after is None else unpacked(after)
    return KeyedMutation(row["key"], mutation_of(row, values), index)


def _paired(rows: pa.Table, changes: list[BatchChange]) -> Iterator[Repaired]:
    """Yield what updates do whose images are two changes of a batch."""
    keyed = [one.index for one in changes if one.has_key]
    updates = rows.select([*IMAGES, "op", *_PLACE]).take(pa.array(keyed, pa.int64()))
    found = [
        (index, row)
        for index, row in zip(keyed, _dictionaries(updates), strict=True)
        if row["op"] == "update" and (row["before"] is None) != (row["after"] is None)
    ]
    both = {
        one.position: one.mutations
        for one in paired_updates(images({**row, **position_in(row)._asdict()} for _, row in found))
    }
    for index, row in found:
        mutations = both.get(position_in(row))
        if isinstance(mutations, Refusal):
            yield index, mutations
        elif mutations is not None:
            yield index, _mutations(index, row, rows_of(mutations))


def deletes_for_all(rows: pa.Table, batch: RowBatch) -> Iterator[dict[str, Any]]:
    """Yield the deletes of a batch that name no table, as rows of delta-rs's `EFFECTS_KEPT`."""
    deletes = [one for one in batch.accepted() if one.is_for_all and one.has_key]
    chosen = rows.select([EFFECTS, "after"]).take(
        pa.array([one.index for one in deletes], pa.int64())
    )
    for change, row in zip(deletes, _dictionaries(chosen), strict=True):
        source, place = asdict(change.route[0]), change.order.position._asdict()
        for effect in row[EFFECTS] or ():
            yield {**effect, **place, "source": source, "after": row["after"]}


def logged_of(
    rows: pa.Table, batch: RowBatch, keys: Collection[RouteKey]
) -> Iterator[LoggedChange]:
    """Yield changes and truncates of decoded rows, by where they come from, as a log has them.

    Those that are refused are left out.
    """
    chosen = [one.index for one in batch.accepted() if one.route in keys]
    found = rows.select(LOGGED.names).take(pa.array(chosen, pa.int64())).cast(LOGGED)
    for part in found.to_batches():
        yield from logged(part)


def as_dead_letters(rows: pa.Table, why: Mapping[int, Refusal], format: str) -> pa.Table:
    """Return decoded rows, with the messages of all, in which refused changes are dead letters.

    `why` says which and why, by row; `format` is the public name of the messages' format.
    """
    if not why:
        return rows
    letters = [_letter(why.get(index), format) for index in range(len(rows))]
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
