"""Dead letters that are closed without a replay, since their messages were mended elsewhere."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from deltalake import QueryBuilder, write_deltalake

from changewire.engines.arrow.queries import dead_letters
from changewire.engines.changelog.source import LogRows
from changewire.engines.errors import OutputError
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.log import ELEMENT_PLACE, closing, is_placed, place_of
from changewire.engines.merge import delta


def close_dead_letters(log: str, *, where: str, by: str, why: str) -> int:
    """Close open dead letters of a log, such as those whose messages were sent again.

    For each a row of the kind ``closed`` is appended, with its position, its code, and who closed
    it and why. No row is changed. A dead letter without a position stays open.

    Args:
        log: The output folder of a run, or the folder of a log of Delta.
        where: Condition in SQL on dead letters, such as ``"code = 'wrong-type'"``.
        by: Who closes them.
        why: The reason.

    Returns:
        How many were closed.

    Raises:
        ValueError: `by` or `why` is empty.
        OutputError: It is not a log of Delta, or `where` is not a condition on it.
        FramingError: The folder cannot be read.
    """
    said, rows = closing(by, why), LogRows(log)
    place = rows.place or log
    chosen, letters = _places(place, where), dead_letters(log)
    names = [*ELEMENT_PLACE]
    mask = [is_placed(row) and place_of(row) in chosen for row in letters.select(names).to_pylist()]
    found = letters.filter(pa.array(mask, pa.bool_()))
    for name, value in said.items():
        field = found.schema.field(name)
        column = pa.array([value] * len(found), field.type)
        found = found.set_column(found.column_names.index(name), field, column)
    if len(found):
        with delta.reported(place):
            write_deltalake(place, found, mode="append")
    return len(found)


def _places(place: str, where: str) -> set[Any]:
    """Return the places of the dead letters that meet a condition."""
    table = delta.opened(place)
    if table is None:
        raise OutputError(f"{place}: it is not a table of Delta, so no row can be appended to it")
    columns = ", ".join(map(delta.quoted, ELEMENT_PLACE))
    query = f"SELECT {columns} FROM log WHERE kind = '{DEAD_LETTER}' AND ({where})"  # noqa: S608
    with delta.reported(place):
        found = QueryBuilder().register("log", table).execute(query)
        return {*map(place_of, pa.table(found).to_pylist())}
