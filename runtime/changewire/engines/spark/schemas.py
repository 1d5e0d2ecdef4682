"""Which schemas are in the messages of a DataFrame: counted in tasks, added up by Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.pandas.types import from_arrow_schema

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
from changewire.engines.spark.decode import input_of
from changewire.framing import Position
from changewire_messages.change import Source

_TOTALS: Final = ("messages", "without", "rejected")
_PLACE: Final = pa.struct(
    {name: pa.string() if name in {"topic", "path"} else pa.int64() for name in PLACE}
)
_ROWS: Final = pa.schema(
    {
        "source": pa.struct(dict.fromkeys(Source.__struct_fields__, pa.string())),
        **dict.fromkeys(("fingerprint", "text"), pa.string()),
        **dict.fromkeys(("count", *_TOTALS), pa.int64()),
        **dict.fromkeys(("first", "last"), _PLACE),
    }
)
"""A row for each schema of a task, and one without text for the totals."""


def schemas(messages: DataFrame, *, format: str, limit: int = MOST_SCHEMAS) -> Schemas:
    """Return the schemas that are in messages, and what each changed of the one before it.

    One job. Tasks count, Spark adds up what has the same table and text, and the driver gets one
    row for each schema that is listed.

    Args:
        messages: As for `decode`; Kafka's columns, or those of `read_files`, tell which of two
            messages came first.
        format: Public name of the format.
        limit: How many schemas are listed at most, those that came first; never more than 16 MB of
            them.

    Raises:
        ValueError: There is no such format, or its messages have no schema.
        TypeError: There is no binary or string column ``value``.
    """
    dialect(format)

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tally = Tally(format, limit)
        for batch in batches:
            for value, position in zip(
                batch.column("value").to_pylist(), _positions(batch), strict=True
            ):
                tally.add(value, position)
        totals = {name: getattr(tally, name) for name in _TOTALS}
        uses = map(msgspec.to_builtins, tally.found.values())
        yield pa.RecordBatch.from_pylist([totals, *uses], _ROWS)

    counted = input_of(messages).mapInArrow(each, from_arrow_schema(_ROWS))
    merged = counted.groupBy("source", "fingerprint", "text").agg(
        *(F.sum(name).alias(name) for name in ("count", *_TOTALS)),
        F.min("first").alias("first"),
        F.max("last").alias("last"),
    )
    order = (F.col("text").isNotNull(), F.col("first"), F.col("fingerprint"))
    so_far = F.sum(F.octet_length("text")).over(Window.orderBy(*order).rowsBetween(-limit - 1, 0))
    kept = merged.orderBy(*order).limit(limit + 1).withColumn("bytes", so_far)
    rows = kept.where(f"text is null or bytes <= {MOST_BYTES}").collect()
    uses = [row.asDict(recursive=True) for row in rows if row["text"] is not None]
    totals = {name: sum(row[name] or 0 for row in rows) for name in _TOTALS}
    return listed(msgspec.convert(uses, list[SchemaUse]), format=format, **totals)


def _positions(batch: pa.RecordBatch) -> Iterator[Position]:
    columns = {name: batch.column(name) for name in PLACE if name in batch.schema.names}
    if "timestamp" in columns:
        milliseconds = columns["timestamp"].cast(pa.timestamp("ms", "UTC"), safe=False)
        columns["timestamp"] = milliseconds.cast(pa.int64())
    for row in pa.table(columns).to_pylist() or [{}] * len(batch):
        yield Position(**row)
