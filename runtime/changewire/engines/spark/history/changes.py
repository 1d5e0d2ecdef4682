"""The changes of one table in a log, and what they do to rows, in Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain, groupby
from operator import and_

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from changewire.engines.changelog.effects import effects_in, update_of
from changewire.engines.changelog.logged import LOGGED, rows_in, truncates_of
from changewire.engines.changelog.shapes import KEYED, Shape
from changewire.engines.changelog.versions import batched
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE
from changewire.engines.log import ATTEMPT, ELEMENT_PLACE
from changewire.engines.spark.merge.current import accepted
from changewire.engines.spark.merge.from_log import is_truncate
from changewire.tables.mutations import DELETE
from changewire.tables.names import NO_TABLE
from changewire.tables.order import Order
from changewire.tables.version_rows import ChangeNote


def spark_type(schema: pa.Schema) -> StructType:
    """Return columns of Arrow as Spark has them."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def table_in(log: DataFrame, table: str, *more: str) -> DataFrame:
    """Return the rows of a table, by its `dotted` name, and deletes of all tables of its database.

    They have the columns `LOGGED` and more that are named.

    Raises:
        OutputError: A column is not there, or is of another type.
    """
    for field in spark_type(LOGGED).fields:
        found = log.schema[field.name].dataType if field.name in log.columns else None
        if found is None or found.simpleString() != field.dataType.simpleString():
            kind = "not there" if found is None else found.simpleString()
            raise OutputError(f"no log with rows as JSON text: its column {field.name} is {kind}")
    parts = (F.nullif(F.col("source")[name], F.lit("")) for name in ("database", "schema", "table"))
    name = F.coalesce(F.nullif(F.concat_ws(".", *parts), F.lit("")), F.lit(NO_TABLE))
    is_above = F.startswith(F.lit(table), F.concat(name, F.lit(".")))
    is_for_all = (F.col("op") == DELETE) & F.col("source.table").isNull() & is_above
    return log.where((name == table) | is_for_all).select(*LOGGED.names, *more)


def changes_in(log: DataFrame) -> DataFrame:
    """Return the changes that tables take, each as the newest replay decoded it."""
    changes = accepted(log)
    is_again = (F.col("kind") == CHANGE) & (F.col(ATTEMPT) > 0)
    again = log.where(is_again).groupBy(*ELEMENT_PLACE).agg(F.max(ATTEMPT).alias(ATTEMPT))
    is_same = (changes[name].eqNullSafe(again[name]) for name in ELEMENT_PLACE)
    is_later = again[ATTEMPT] > changes[ATTEMPT]
    return changes.join(again, reduce(and_, is_same) & is_later, "left_anti")


def truncates_in(log: DataFrame) -> list[tuple[Order, ChangeNote]]:
    """Return the truncates that have a sequence; the driver holds them."""
    found = log.where(is_truncate()).toArrow().cast(LOGGED)
    return truncates_of(chain.from_iterable(map(rows_in, found.to_batches())))


def effects_of(changes: DataFrame, shape: Shape) -> DataFrame:
    """Return what changes do to rows, by the columns `KEYED`.

    Images of updates that came as two messages are read together, by source and number. Memory has
    the images of one update, and one Arrow batch. A row that is not a JSON object, or a key that
    does not fit its columns, is an `OutputError`.
    """

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = chain.from_iterable(
            rows_in(batch.select(LOGGED.names).cast(LOGGED)) for batch in batches
        )
        effects = (effects_in(images) for _, images in groupby(rows, key=update_of))
        yield from batched(shape.keyed(chain.from_iterable(effects)), KEYED)

    has_one_image = F.col("before").isNull() != F.col("after").isNull()
    is_image = (F.col("op") == "update") & has_one_image
    images = changes.where(is_image).withColumn("_major", F.col("sequence.major"))
    together = images.repartition("source", "_major").sortWithinPartitions("source", "_major")
    others, both = (
        rows.select(*LOGGED.names).mapInArrow(each, spark_type(KEYED))
        for rows in (changes.where(~is_image), together)
    )
    return others.unionAll(both)
