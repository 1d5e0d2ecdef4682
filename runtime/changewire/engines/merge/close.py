"""Dead letters that are closed without a replay, since their messages were mended elsewhere."""

from __future__ import annotations

import pyarrow as pa
from deltalake import CommitProperties, write_deltalake

from changewire.engines.arrow.queries import dead_letters
from changewire.engines.changelog.source import LogRows
from changewire.engines.errors import OutputError
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.log import CLOSING, ELEMENT_PLACE, closing, columns_of_log, placed
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
    found = placed(meeting(place, dead_letters(log), DEAD_LETTER, where))
    for name, value in said.items():
        field = found.schema.field(name)
        column = pa.array([value] * len(found), field.type)
        found = found.set_column(found.column_names.index(name), field, column)
    if len(found):
        with delta.reported(place):
            properties = CommitProperties(custom_metadata=CLOSING)
            write_deltalake(place, found, mode="append", commit_properties=properties)
    return len(found)


def meeting(place: str, rows: pa.Table, kind: str, where: str) -> pa.Table:
    """Return rows of a kind of a log that meet a condition in SQL; the log is in a folder.

    Of rows without positions, all or none meet it.
    """
    table = delta.opened(place)
    if table is None:
        raise OutputError(f"{place}: it is not a table of Delta, so no row can be appended to it")
    schema, condition = columns_of_log(ELEMENT_PLACE), f"kind = '{kind}' AND ({where})"
    found = delta.selected(place, table, schema, condition)
    places = {tuple(row.values()) for part in found for row in part.to_pylist()}
    each = (tuple(row.values()) for row in rows.select([*ELEMENT_PLACE]).to_pylist())
    return rows.filter(pa.array([one in places for one in each], pa.bool_()))
