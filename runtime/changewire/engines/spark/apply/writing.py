"""How what was decided is written: tombstones appended, rows by one MERGE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.spark.apply.decide import BEYOND, ROW
from changewire.engines.spark.apply.shape import CONTENT, NAMED
from changewire.engines.spark.apply.tables import SparkTables, struct_of
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.parts import quoted
from changewire.tables.metadata import COLUMN

_SOURCE: Final = "_changewire_source"
"""The only column of what is merged, so that every other name is one of the table's."""

_ROW: Final = "row"


def write_tombstones(found: DataFrame, tombstones: str) -> None:
    """Append tombstones, which have ``key`` and `COLUMN`; one that is there twice does no harm."""
    found.withColumn("since", F.current_timestamp()).writeTo(tombstones).append()


def write_rows(changed: DataFrame, tables: SparkTables, *, since: Mapping[str, Any]) -> int | None:
    """Write and remove rows that are unchanged since they were read, or are older than what comes.

    Args:
        changed: Decisions, each with the metadata that its row is expected to have.
        tables: The table, which is there, and its tombstones.
        since: `Delta.version` of each table before they were made.

    Returns:
        How many rows there were; None if the format does not tell, and all were written.
    """
    shape, table = tables.shape, str(tables.table)
    columns = shape.row_columns(F.col(NAMED), F.col(CONTENT))
    row = struct_of({**columns, COLUMN: F.col("metadata")}).alias(_ROW)
    remains = (F.col("action") == ROW).alias("remains")
    # Maps do not compare; their text does, and is the same for the same map.
    expected = F.to_json("expected").alias("expected")
    source = changed.select(F.struct(row, remains, expected, BEYOND).alias(_SOURCE))
    return tables.format.merge(source, table, _statement(table, shape), since[table])


def _statement(table: str, shape: Shape) -> str:
    """Return the MERGE; every name but that of the source's only column is one of the table's."""
    names = [quoted(field.name) for field in shape.columns.fields]
    is_same = " AND ".join(
        f"{quoted(name)} <=> {_SOURCE}.{_ROW}.{quoted(name)}" for name in shape.keys
    )
    sequence = f"{COLUMN}.sequence < {_SOURCE}.{_ROW}.{COLUMN}.sequence"
    is_older = f"{COLUMN} IS NOT NULL AND coalesce({sequence}, true)"
    is_expected = f"to_json({COLUMN}) <=> {_SOURCE}.expected"
    # Delta computes conditions for all rows of the files that it rewrites. Those that match no row
    # of the source have NULL in place of its columns, and need no text of their metadata.
    cases = (
        f"WHEN {_SOURCE}.{BEYOND} THEN {is_older}",
        f"WHEN {_SOURCE}.remains IS NOT NULL THEN {is_expected}",
    )
    is_unchanged = f"CASE {' '.join(cases)} END"
    values = [f"{_SOURCE}.{_ROW}.{name}" for name in names]
    pairs = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
    clauses = (
        f"ON {is_same}",
        f"WHEN MATCHED AND {is_unchanged} AND NOT {_SOURCE}.remains THEN DELETE",
        f"WHEN MATCHED AND {is_unchanged} THEN UPDATE SET {pairs}",
        f"WHEN NOT MATCHED AND {_SOURCE}.remains AND {_SOURCE}.expected IS NULL",
        f"THEN INSERT ({', '.join(names)}) VALUES ({', '.join(values)})",  # noqa: S608 - quoted
    )
    return f"MERGE INTO {as_is(table)} USING {{source}} {as_is(' '.join(clauses))}"


def as_is(text: str) -> str:
    """Return text that `SparkSession.sql` leaves as it is where it looks for braces."""
    return text.replace("{", "{{").replace("}", "}}")
