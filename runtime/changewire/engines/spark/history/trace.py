"""What each change did to one row, by a log in Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.changelog.effects import is_before, update_of
from changewire.engines.changelog.keys import parsed, wanted_key
from changewire.engines.changelog.logged import MESSAGE, READ, rows_in
from changewire.engines.changelog.source import LogRows
from changewire.engines.changelog.trace import traced
from changewire.engines.spark.history.query import spark_type, table_in
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import newest
from changewire.engines.spark.merge.from_log import is_truncate
from changewire.tables.history import History


def trace(
    spark: SparkSession,
    log: str,
    key: Mapping[str, Any],
    *,
    table: str,
    table_format: str = "delta",
    apply_truncates: bool = False,
) -> History:
    """Return what each change did to a row, in the order of the log, and why others did nothing.

    The driver has the changes of the row.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table. Its rows are JSON text.
        key: Columns that name the row, with the values that the log has: ``{"id": 1004}``.
        table: The table, as ``database.table`` in the messages, or ``database.schema.table``.
        table_format: Format of the log.
        apply_truncates: Whether truncates remove rows.

    Returns:
        A step for each change, and the row after them; no steps if the log does not have the key.

    Raises:
        ValueError: The key has no column.
        OutputError: It is not a log.
    """
    wanted = wanted_key(key)
    rows = LogPlace(log, table_format).read(spark)
    found = newest(table_in(rows, table, MESSAGE), rows)
    has_key = F.col("key").isNotNull() | F.col("before_key").isNotNull()

    def is_wanted(text: str | None) -> bool:
        return text is not None and wanted.is_key(parsed(text))

    def each(
        batches: Iterable[pa.RecordBatch], *, are_wanted: bool = True
    ) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = zip(*(batch.column(n).to_pylist() for n in ("key", "before_key")), strict=True)
            chosen = [any(map(is_wanted, texts)) == are_wanted for texts in keys]
            yield batch.filter(pa.array(chosen, pa.bool_()))

    mine = found.where(has_key).mapInArrow(each, spark_type(READ))
    parts = [mine, *([found.where(is_truncate())] if apply_truncates else [])]
    first = pa.concat_tables(map(_collected, parts))
    majors = {
        row["sequence"]["major"]
        for row in chain.from_iterable(map(rows_in, first.drop([MESSAGE]).to_batches()))
        if is_before(row) and update_of(row) is not None
    }
    if majors:  # the images of these updates may have other keys
        is_near = (F.col("op") == "update") & F.col("sequence.major").isin(*majors)
        others = partial(each, are_wanted=False)
        images = found.where(has_key & is_near).mapInArrow(others, spark_type(READ))
        first = pa.concat_tables([first, _collected(images)])
    return traced(LogRows(first), wanted, table, truncates=apply_truncates)


def _collected(rows: DataFrame) -> pa.Table:
    return rows.toArrow().select(READ.names).cast(READ)
