"""Tables compared with their log: rows that differ from the log."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.adopted import check_has_key
from changewire.engines.applied import keeps_deleted
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import ROW, unpacked
from changewire.engines.options import TableOptions
from changewire.engines.settings import Deletes
from changewire.engines.spark.cause import GONE, full_text
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import of_target
from changewire.engines.spark.merge.constraints import is_char
from changewire.engines.spark.merge.facts import known_log
from changewire.engines.spark.merge.formats import format_of
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.mutations import CONTENT, NAMED, ORDER_FIELDS, row_values
from changewire.engines.spark.merge.plan import shape_of
from changewire.engines.spark.merge.resume import log_of_tables
from changewire.engines.spark.merge.shapes import JsonShape, Shape, TypedShape
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.merge.table_log import TableLog, needs_of, table_log
from changewire.engines.spark.parts import json_text
from changewire.engines.typed.options import AppliedOptions, applied_options, warn_unmatched
from changewire.tables.names import Target, template_of
from changewire.tables.row_state import COLUMN, ORDER

_CLEANED_UP: Final = (
    "the version that the tables have was cleaned up; start the query, or verify without checkpoint"
)
_TEXTS: Final = ("table", "fault", "key", "expected", "actual")


def verify(
    spark: SparkSession,
    log: str,
    *,
    target: str,
    table_format: str = "delta",
    default_table: str | None = None,
    apply_truncates: bool = False,
    one_table: bool = False,
    only_tables: Sequence[str] | None = None,
    except_tables: Sequence[str] | None = None,
    deletes: Deletes | None = None,
    checkpoint: str | None = None,
) -> DataFrame:
    """Compare tables with the log that they were made of; each row that differs is returned.

    A change that the target refused, or that has no key, is in no table: `unapplied` counts these.
    Rescued values are not compared.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        target: Path or name of the tables, as for `apply_changes`.
        table_format: Format of log and tables.
        default_table: Table of writes that name none.
        apply_truncates: Whether truncates were applied.
        one_table: As for `apply_changes`.
        only_tables: As for `apply_changes`.
        except_tables: As for `apply_changes`.
        deletes: ``flag`` if the tables keep deleted rows, ``remove`` if not; by default what the
            last run said, which tables remember. Deleted rows that a table should not keep are
            ``extra``.
        checkpoint: Folder of the checkpoint of the query that made the tables: then the log counts
            as far as they have it. By default all of it does.

    Returns:
        ``table``; ``fault``: the row is ``missing`` in the table, ``extra``, or ``different``;
        ``key``, and ``expected`` and ``actual`` rows, all JSON text; and the order of the change
        that the row should be from: ``major``, ``minor``, ``topic``, ``partition``, ``offset`` and
        ``element``, of a row that should be deleted those of its delete. No rows: all is right.

    Raises:
        ValueError: An argument is not valid.
        OutputError: The version of the log that the tables of a checkpoint have was cleaned up.
    """
    asked = TableOptions(
        target,
        default_table=default_table,
        one_table=one_table,
        only_tables=only_tables,
        except_tables=except_tables,
    )
    how = AppliedOptions(**applied_options(None, asked, template_of(target), [log]))
    routing = how.routing
    place = LogPlace(log, table_format)
    rows = place.read(spark) if checkpoint is None else log_of_tables(spark, place, checkpoint)
    rows = of_target(rows, target)
    try:
        known = known_log(rows, routing, with_truncates=apply_truncates, table_format=table_format)
    except RAISED as error:
        if not GONE.search(full_text(error)):
            raise
        raise OutputError(f"{log}: {_CLEANED_UP}") from None
    warn_unmatched(how, known, "verify")
    needs = needs_of(rows)
    parts = [
        _faults(one, table_log(rows, needs, known, routing, one), table_format, deletes)
        for one in known.tables.names.values()
    ]
    nothing = spark.range(0).select(
        *(F.lit(None).cast("string").alias(name) for name in _TEXTS),
        *(F.lit(None).cast(one.dataType).alias(one.name) for one in ORDER_FIELDS),
    )
    return reduce(DataFrame.unionByName, parts, nothing)


def _faults(target: Target, log: TableLog, table_format: str, deletes: Deletes | None) -> DataFrame:
    """Return the rows of one table that differ from those that its log says."""
    spark = log.mine.sparkSession
    table = SparkTable(target.name, format_of(table_format))
    there = table.read(spark)
    shape: Shape = JsonShape()
    others: frozenset[str] = frozenset()
    padded: list[str] = []
    if there is not None:
        check_has_key(target.name, there.keys, there.columns.names)
        padded = [one.name for one in there.columns.fields if is_char(one)]
        shape, others = shape_of(there), there.others - {*(there.keys or ())}
    expected = log.rows(log.effects(shape), shape)
    is_live = ~F.col(STATE)["deleted"]
    should = expected.select(
        _key(shape).alias("key"),
        is_live.alias("is_expected"),
        F.when(is_live, _text(shape, others, padded)).alias("expected"),
        *(F.col(STATE)[name].alias(name) for name in ORDER),
    )
    rows = table_rows(spark, table, shape) if there is not None else expected.limit(0)
    if there is not None and keeps_deleted(there.properties, deletes):
        rows = rows.where(~F.coalesce(F.col(STATE)["deleted"], F.lit(False)))  # noqa: FBT003
    has = rows.select(
        _key(shape).alias("key"),
        F.lit(True).alias("is_actual"),  # noqa: FBT003 - a column of this value
        _text(shape, others, padded).alias("actual"),
    )
    # Of rows with one key all but one are extra.
    number = F.row_number().over(Window.partitionBy("key").orderBy("actual"))
    joined = should.join(has.withColumn("number", number), "key", "full")
    both = [F.coalesce(name, F.lit(False)) for name in ("is_expected", "is_actual")]  # noqa: FBT003
    fault = (
        F.when(both[0] & ~both[1], "missing")
        .when(both[1] & (~both[0] | (F.col("number") > 1)), "extra")
        .when(both[0] & both[1] & ~F.col("expected").eqNullSafe(F.col("actual")), "different")
    )
    found = joined.withColumn("fault", fault).where(F.col("fault").isNotNull())
    found = found.withColumn("expected", F.when(F.col("fault") != "extra", F.col("expected")))
    found = found.select(F.lit(target.name).alias("table"), *_TEXTS[1:], *ORDER)
    return found if shape.is_typed else found.mapInArrow(_really_different, found.schema)


def table_rows(spark: SparkSession, table: SparkTable, shape: Shape) -> DataFrame:
    """Return the rows of a table: ``named``, ``content`` and ``state``."""
    row = F.col("_row")
    rows = spark.table(table.identifier).select(F.struct("*").alias("_row"))
    named = F.struct(*(row[name].alias(name) for name in shape.keys))
    content = row[ROW]
    if isinstance(shape, TypedShape):
        content = F.struct(*(row[name].alias(name) for name in shape.content_type.names))
    return rows.select(named.alias(NAMED), content.alias(CONTENT), row[COLUMN].alias(STATE))


def _key(shape: Shape) -> Column:
    named = F.col(NAMED)
    return json_text(named) if shape.is_typed else named["key"]


def _text(shape: Shape, others: Collection[str], padded: Collection[str]) -> Column:
    """Return a row as JSON text, with the columns of its key, and without others."""
    if isinstance(shape, JsonShape):
        return F.col(CONTENT)
    values = {name: one for name, one in row_values(shape).items() if name not in others}
    # CHAR is padded with spaces, which are not part of a value.
    values |= {name: F.rtrim(one) for name, one in values.items() if name in padded}
    return json_text(F.struct(*(one.alias(name) for name, one in values.items())))


def _really_different(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield faults without rows whose texts differ in the order of columns alone."""
    for batch in batches:
        texts = zip(*(batch.column(name).to_pylist() for name in _TEXTS[1:]), strict=True)
        kept = [
            fault != "different" or unpacked(expected) != unpacked(actual)
            for fault, _, expected, actual in texts
        ]
        yield batch.filter(pa.array(kept, pa.bool_()))
