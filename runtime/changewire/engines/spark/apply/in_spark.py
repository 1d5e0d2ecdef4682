"""Rows whose changes Spark can decide on, without Python's share.

The rules are those of `changewire.tables`, for the changes that need least of them: whole rows and
deletes with a sequence, which differ in it from all else that is known of their key, or are just
what is known already. The condition of each rule stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.spark.apply.decide import (
    BEYOND,
    COUNTS,
    FAILED,
    ROW,
    TOMBSTONE,
    output_type,
)
from changewire.engines.spark.apply.failures import FAILURE, ROW_ID
from changewire.engines.spark.apply.shape import CONTENT, NAMED
from changewire.engines.spark.apply.tables import SparkTables, held_rows, held_tombstones
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.decode import BatchFunction
from changewire.tables.metadata import VERSION
from changewire.tables.mutations import DELETE, FULL
from changewire.tables.order import Sequence
from changewire.tables.routing import apply_failed
from changewire_messages.tables.spark import ORDER_FIELDS
from changewire_messages.tables.spark import ROW_METADATA as METADATA

OTHER: Final = "other"
"""Action of a key that is not decided here; its row has nothing else."""

_POSITION: Final = ("topic", "partition", "offset", "element")
_ORDER: Final = ("sequence", *_POSITION)
_PARTS: Final = ("major", "minor")
_DECISIONS: Final = ("applied", "duplicate", "stale")

SUMMED: Final = ("changes", "duplicates", "stale", "effects", "bytes")
"""Columns of `newest_changes` of all changes of a key: how many are newer than all before them, the
same as one of these, or older; how many there are, and the size of their rows as text."""

_TRUE: Final = partial(F.lit, True)  # noqa: FBT003 - a value of SQL
_FALSE: Final = partial(F.lit, False)  # noqa: FBT003


def decided_in_spark(newest: DataFrame, tables: SparkTables) -> DataFrame:
    """Return decisions as `Decide` makes them, one for each key; `OTHER` where it is not simple.

    Args:
        newest: As `newest_changes` returns them.
        tables: The table and its tombstones; it was never truncated.
    """
    keys = newest.select("key", NAMED)
    tombstones = held_tombstones(tables, keys).groupBy("key")
    found = newest.join(tombstones.agg(F.max(_order("metadata.")).alias("buried")), "key", "left")
    rows = held_rows(tables, keys)
    if rows is None:
        found = found.withColumns({"expected": F.lit(None).cast(METADATA), "is_there": _FALSE()})
    else:
        there = rows.select("key", F.col("metadata").alias("expected"), _TRUE().alias("is_there"))
        found = found.join(there, "key", "left")
        found = found.withColumn("is_there", F.coalesce("is_there", _FALSE()))
    columns = output_type(tables.shape)
    decided = found.withColumn("decision", _decision()).select(*_decided(columns))
    return decided if tables.shape.is_typed else decided.mapInArrow(_packer(tables.shape), columns)


def decided_beyond(newest: DataFrame, shape: Shape) -> DataFrame:
    """Return decisions on keys that need no look: their newest changes are newer than the table."""
    nothing = {"decision": F.lit("applied"), "expected": F.lit(None).cast(METADATA)}
    columns = output_type(shape)
    decided = newest.withColumns(nothing).select(*_decided(columns))
    decided = decided.withColumn(BEYOND, _TRUE())
    return decided if shape.is_typed else decided.mapInArrow(_packer(shape), columns)


def is_beyond(mark: Sequence) -> Column:
    """Return the condition that a key needs no look, of the columns of `newest_changes`.

    `mark` is the greatest sequence that the table has; empty if it has none.
    """
    literals = (F.lit(number).alias(name) for number, name in zip(mark, _PARTS, strict=False))
    is_newer = F.col("sequence") > F.struct(*literals) if mark else _TRUE()
    is_counted = ~F.col("has_loads") | (F.col("stale") == 0)
    return F.coalesce(F.col("are_plain") & is_counted & is_newer, _FALSE())


def newest_changes(effects: DataFrame, compared: str) -> DataFrame:
    """Return the newest change of each key, and what became of the others of the batch.

    A change that stands twice, one behind the other, is a duplicate; the later one stays, as its
    position is the newer one.

    Args:
        effects: Effects as `Shape.fitted` returns them, but for those that fail.
        compared: As the table's `Shape` has it.
    """
    by_position = Window.partitionBy("key").orderBy(*_POSITION)
    before = by_position.rowsBetween(Window.unboundedPreceding, -1)
    what = F.struct("sequence", "kind", compared)
    marked = effects.withColumns(
        {
            "newest": F.max("sequence").over(before),
            "is_same": F.lag(what).over(by_position).eqNullSafe(what),
        }
    )
    sequence, newest = F.col("sequence"), F.col("newest")
    is_whole = F.col("kind").isin(FULL, DELETE) & sequence.isNotNull()
    # Of two rows that differ in their text alone, only Python knows whether they are one.
    is_known = F.coalesce(sequence != newest, _TRUE()) | F.col("is_same")
    last = F.max_by(F.struct(*_ORDER, "kind", NAMED, CONTENT, ROW_ID), F.struct(*_ORDER))
    grouped = marked.groupBy("key").agg(
        last.alias("last"),
        F.bool_and(is_whole & is_known).alias("are_plain"),
        F.bool_or(sequence["major"] < 0).alias("has_loads"),
        F.count_if(F.coalesce(sequence > newest, _TRUE())).alias("changes"),
        F.count_if(sequence == newest).alias("duplicates"),
        F.count_if(sequence < newest).alias("stale"),
        F.count("*").alias("effects"),
        F.sum(F.octet_length(compared)).alias("bytes"),
    )
    others = ("are_plain", "has_loads", *SUMMED)
    return grouped.select("key", "last.*", *others)


def _decision() -> Column:
    """Return what the newest change of a key is to what is known of it: NULL if it is not simple.

    `changewire.tables.decided` is the rule.
    """
    expected, buried, sequence = F.col("expected"), F.col("buried"), F.col("sequence")
    held, order = _order("expected."), _order()
    is_row = (
        expected["columns"].isNull() & expected["floor"].isNull() & (expected["version"] == VERSION)
    ) & F.coalesce(buried < held, _TRUE())
    # A row that something else wrote has no metadata: this is NULL, and `Decide` refuses it.
    is_simple = F.col("are_plain") & (~F.col("is_there") | is_row)
    newest = F.when(F.col("is_there"), held).otherwise(buried)
    is_same = (newest == order) & (F.col("is_there") == (F.col("kind") == FULL))
    decision = (
        F.when(newest.isNull() | (sequence > newest["sequence"]), "applied")
        .when(is_same, "duplicate")
        .when(sequence < newest["sequence"], "stale")
    )
    # Rows of an initial load that are stale are counted by themselves.
    is_counted = ~F.col("has_loads") | ((F.col("stale") == 0) & (decision != "stale"))
    return F.when(is_simple & is_counted, decision)


def _decided(columns: StructType) -> Iterator[Column]:
    """Yield decisions, with the content of effects, as columns of `output_type`."""
    decision, is_delete = F.col("decision"), F.col("kind") == DELETE
    is_applied = decision == "applied"
    order = {field.name: F.col(field.name) for field in ORDER_FIELDS}
    filled = {**order, "version": F.lit(VERSION)}
    metadata = F.struct(
        *(
            filled.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name)
            for field in METADATA.fields
        )
    )
    action = F.when(decision.isNull(), OTHER).when(~is_applied, COUNTS)
    found = {
        "action": action.when(is_delete, TOMBSTONE).otherwise(ROW),
        "key": F.col("key"),
        NAMED: F.when(is_applied, F.col(NAMED)),
        CONTENT: F.when(is_applied & ~is_delete, F.col(CONTENT)),
        "metadata": F.when(is_applied, metadata),
        "expected": F.when(is_applied, F.col("expected")),
        "counts": F.when(decision.isNotNull(), _counts()),
        ROW_ID: F.col(ROW_ID),
    }
    nothing = F.lit(None)
    return (found.get(f.name, nothing).cast(f.dataType).alias(f.name) for f in columns.fields)


def _counts() -> Column:
    """Return what became of the changes of a key, without what there was none of."""
    numbers = {
        name: F.when(F.col("decision") == name, F.col("changes")).otherwise(0)
        for name in _DECISIONS
    }
    numbers["duplicate"] += F.col("duplicates")
    numbers["stale"] += F.col("stale")
    pairs = (part for name, number in numbers.items() for part in (F.lit(name), number))
    return F.map_filter(F.create_map(*pairs), lambda _, number: number > 0)


def _order(prefix: str = "") -> Column:
    """Return the order of a change, which compares as `changewire.tables.Order` does."""
    return F.struct(*(F.col(f"{prefix}{name}").alias(name) for name in _ORDER))


def _packer(shape: Shape) -> BatchFunction:
    """Return what makes the content of rows of that of effects; `FAILED` are those it cannot."""

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([*arrow_type(output_type(shape))])
        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            pairs = zip(columns["key"].to_pylist(), columns[CONTENT].to_pylist(), strict=True)
            found = [_packed(shape, key, content) for key, content in pairs]
            failures = [failure for _, failure in found]
            if any(failures):
                actions = zip(columns["action"].to_pylist(), failures, strict=True)
                columns["action"] = pa.array([FAILED if why else one for one, why in actions])
                columns[FAILURE] = pa.array(failures, schema.field(FAILURE).type)
            contents = [content for content, _ in found]
            columns[CONTENT] = pa.array(contents, schema.field(CONTENT).type)
            arrays = [columns[name].cast(schema.field(name).type) for name in schema.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return each


def _packed(shape: Shape, key: str, content: Any) -> tuple[Any, dict[str, str] | None]:
    """Return the content of a row, or why there is none."""
    if content is None:
        return None, None
    try:
        return shape.pack(key, shape.unpack(content)), None
    except Exception as error:  # noqa: BLE001 - one row must not end the stream
        return None, apply_failed(error, "/after", "packing the row")._asdict()
