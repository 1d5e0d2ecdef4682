"""Which schemas stand in the messages of a DataFrame: counted in tasks, added up by Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType

from changewire.changes.embedded import dialect
from changewire.changes.schemas import (
    MOST_BYTES,
    MOST_SCHEMAS,
    PLACE,
    Schemas,
    SchemaUse,
    Tally,
    listed,
)
from changewire.engines.spark.decode import BatchFunction, input_of
from changewire.framing import Position
from changewire_messages.change import Source

_KEYS: Final = ("system", "database", "schema", "table", "fingerprint", "text")
_COUNTS: Final = ("count", "messages", "without", "refused")
_NAMES: Final = frozenset({"topic", "path"})

_PLACE = StructType(
    [StructField(name, StringType() if name in _NAMES else LongType()) for name in PLACE]
)
_ROWS = StructType(
    [
        *(StructField(name, StringType()) for name in _KEYS),
        *(StructField(name, LongType()) for name in _COUNTS),
        StructField("first", _PLACE),
        StructField("last", _PLACE),
    ]
)
"""A row for each schema of a task, and one without text for the totals."""


def schemas(messages: DataFrame, *, format: str, limit: int = MOST_SCHEMAS) -> Schemas:
    """Return the schemas that stand in messages, and what each changed of the one before it.

    One job. Tasks count, Spark adds up what has the same table and text, and the driver gets one
    row for each schema that is listed.

    Args:
        messages: As for `decode`; Kafka's columns, or those of `read_files`, tell which of two
            messages came first.
        format: Public name of the format.
        limit: How many schemas are listed at most, those that came first; never more than 16 MB of
            them.

    Raises:
        ValueError: There is no such format, or its messages hold no schema.
        TypeError: There is no binary or string column ``value``.
    """
    dialect(format)
    counted = input_of(messages).mapInArrow(_counter(format, limit), _ROWS)
    merged = counted.groupBy(*_KEYS).agg(
        *(F.sum(name).alias(name) for name in _COUNTS),
        F.min("first").alias("first"),
        F.max("last").alias("last"),
    )
    order = (F.col("text").isNotNull(), F.col("first"), F.col("fingerprint"))
    so_far = F.sum(F.octet_length("text")).over(Window.orderBy(*order).rowsBetween(-limit - 1, 0))
    kept = merged.orderBy(*order).limit(limit + 1).withColumn("bytes", so_far)
    rows = kept.where(f"text is null or bytes <= {MOST_BYTES}").collect()
    totals = {name: sum(row[name] for row in rows) for name in _COUNTS[1:]}
    return listed([_use(row) for row in rows if row["text"] is not None], format=format, **totals)


def _counter(format: str, limit: int) -> BatchFunction:
    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tally = Tally(format, limit)
        for batch in batches:
            values = batch.column("value").to_pylist()
            for value, position in zip(values, _positions(batch), strict=True):
                tally.add(value, position)
        yield pa.RecordBatch.from_pylist(_rows(tally), to_arrow_schema(_ROWS))

    return each


def _positions(batch: pa.RecordBatch) -> Iterator[Position]:
    columns = {name: batch.column(name) for name in PLACE if name in batch.schema.names}
    if "timestamp" in columns:
        milliseconds = columns["timestamp"].cast(pa.timestamp("ms", "UTC"), safe=False)
        columns["timestamp"] = milliseconds.cast(pa.int64())
    lists = {name: column.to_pylist() for name, column in columns.items()}
    for i in range(len(batch)):
        yield Position(**{name: values[i] for name, values in lists.items()})


def _rows(tally: Tally) -> list[dict[str, Any]]:
    none = dict.fromkeys(_COUNTS, 0)
    totals = {name: getattr(tally, name) for name in _COUNTS[1:]}
    rows: list[dict[str, Any]] = [{**none, **totals}]
    for use in tally.found.values():
        source = {name: getattr(use.source, name) for name in _KEYS[:4]}
        named = {"fingerprint": use.fingerprint, "text": use.text, "count": use.count}
        ends = {"first": _place(use.first), "last": _place(use.last)}
        rows.append({**none, **source, **named, **ends})
    return rows


def _place(position: Position) -> dict[str, Any]:
    return {name: getattr(position, name) for name in PLACE}


def _use(row: Row) -> SchemaUse:
    return SchemaUse(
        source=Source(**{name: row[name] for name in _KEYS[:4]}),
        fingerprint=row["fingerprint"],
        count=row["count"],
        first=Position(**row["first"].asDict()),
        last=Position(**row["last"].asDict()),
        text=row["text"],
    )
