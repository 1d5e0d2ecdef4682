"""Rows written and removed by one MERGE of delta-rs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable

from changewire.engines.delta.held import quoted, same_key, unused_name
from changewire.engines.delta.tables import NEXT_VERSION, reported
from changewire.engines.typed.mutations import Row
from changewire.engines.typed.types import without_metadata

HELD: Final = "held"
ROWS: Final = "rows"
"""What a MERGE calls the table, and the rows that are merged into it."""


def merge_rows(
    table: DeltaTable,
    schema: pa.Schema,
    keys: Sequence[str],
    *,
    written: list[Row],
    removed: list[Row],
    others: Sequence[str] = (),
) -> None:
    """Write and remove rows of a table that is still as it was read.

    Args:
        table: The table.
        schema: Its columns.
        keys: Columns by which a row is found.
        written: Rows to write.
        removed: Rows to remove; columns that are not compared may lack.
        others: Conditions on `HELD` and `ROWS` by which a row is found too.

    Raises:
        WriteConflictError: It is not as it was read.
    """
    mark = unused_name("remains", schema.names)
    columns = without_metadata(schema).append(pa.field(mark, pa.bool_()))
    rows = [{**row, mark: True} for row in written] + [{**row, mark: False} for row in removed]
    names = {quoted(name): f"{ROWS}.{quoted(name)}" for name in schema.names}
    merger = table.merge(
        pa.Table.from_pylist(rows, columns),
        " AND ".join([same_key([(name, name) for name in keys], rows), *others]),
        source_alias=ROWS,
        target_alias=HELD,
        streamed_exec=False,
        commit_properties=NEXT_VERSION,
    )
    remains = f"{ROWS}.{quoted(mark)}"
    with reported(table.table_uri):
        (
            merger.when_matched_delete(f"NOT {remains}")
            .when_matched_update(names, remains)
            .when_not_matched_insert(names, remains)
            .execute()
        )
