"""A row as in its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import MsgspecError, Struct

from changewire.engines.changelog.keys import either, parsed
from changewire.engines.changelog.source import Folder, text
from changewire.engines.json_rows import KEY, ROW
from changewire.framing import FramingError
from changewire.tables.order import Order
from changewire.tables.row_state import COLUMN, state_from
from changewire.tables.state import State

Verdict = Literal["same", "missing", "left-over", "other-change", "other-values"]
"""Whether a table agrees with its log: it does; it lacks the row; it has a row that was deleted;
its row was made by another change; or by this one, with other values."""


class StoredRow(Struct, frozen=True):
    """A row of a table: order of its newest write, and its columns without key and metadata.

    `is_json` says that the table has rows as JSON text, whose values are those of the log.
    """

    order: Order
    values: Mapping[str, Any]
    is_json: bool


def stored_row(folder: str, key: str) -> StoredRow | None:
    """Return the row of a key in a table; None without one, or one that is flagged."""
    table, names = Folder(folder), parsed(key)
    columns = table.schema.names
    if COLUMN not in columns:
        raise FramingError(folder, None, f"it has no column {COLUMN!r}: changewire did not make it")
    is_json = {*columns} == {KEY, ROW, COLUMN}
    for row in _of_text(table, key) if is_json else _of_columns(table, names):
        metadata = row.pop(COLUMN)
        try:
            order = state_from(metadata, None).order
        except (KeyError, TypeError, MsgspecError):
            text = f"its column {COLUMN!r} has another layout: this changewire did not make it"
            raise FramingError(folder, None, text) from None
        if metadata["deleted"]:
            return None
        values = parsed(row[ROW]) if is_json else row
        rest = {name: value for name, value in values.items() if name not in names}
        return StoredRow(order, rest, is_json)
    return None


def _of_text(table: Folder, key: str) -> Iterator[dict[str, Any]]:
    for batch in table.batches((ROW, COLUMN), text(KEY) == key):
        yield from batch.to_pylist(maps_as_pydicts="strict")


def _of_columns(table: Folder, key: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    wanted = either(key)
    for name in key:
        table.check(name)
    for batch in table.batches(table.schema.names):
        keys = batch.select([*key]).to_pylist()
        for place in (i for i, found in enumerate(keys) if wanted.is_key(found)):
            yield from batch.slice(place, 1).to_pylist(maps_as_pydicts="strict")


def verdict(state: State | None, kept: StoredRow | None) -> Verdict:
    """Return whether the row of a table is that of its log.

    Columns of a type are not compared value by value: their row is known by its newest change.
    """
    if state is None or state.values is None:
        return "same" if kept is None else "left-over"
    if kept is None:
        return "missing"
    if kept.order != state.order:
        return "other-change"
    is_same = not kept.is_json or _present(kept.values) == _present(state.values)
    return "same" if is_same else "other-values"


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
