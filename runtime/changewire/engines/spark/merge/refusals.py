"""Refused changes, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.by_table import FirstRefusal, TableChanges
from changewire.engines.layout import CHANGE, EFFECT
from changewire.engines.spark.jvm import local_rows
from changewire.engines.spark.merge.from_log import is_truncate, source_columns
from changewire.engines.spark.merge.mutations import FAILURE_TYPE
from changewire.engines.spark.merge.shapes import arrow_schema
from changewire.engines.spark.parts import names_in, position_columns
from changewire.tables.mutations import APPLIED, WRITES
from changewire.tables.routing import NAMES, WRITE, Refusal, RouteKey, route_op
from changewire_messages.change import Source

WHY: Final = "_why"
"""Column: the `Refusal` of a change."""

ROUTE_WHY: Final = "_route_why"
"""Column: the `Refusal` of all changes from a source."""


@dataclass
class Refused:
    """Why changes of a batch are refused.

    Attributes:
        by_rows: Conditions of their rows, and why.
        by_place: Positions of changes and `FAILURE`.
        are_marked: Whether rows have `ROUTE_WHY`.
    """

    by_rows: list[tuple[Column, Refusal]] = field(default_factory=list)
    by_place: list[DataFrame] = field(default_factory=list)
    are_marked: bool = False

    def reason(self) -> Column:
        """Return the first reason that a row meets, NULL without any."""
        found = F.lit(None).cast(FAILURE_TYPE)
        if self.are_marked:
            found = F.when(F.col("key").isNotNull() | is_truncate(), F.col(ROUTE_WHY))
        for condition, refusal in reversed(self.by_rows):
            values = refusal._asdict().items()
            why = F.struct(*(F.lit(value).alias(name) for name, value in values))
            found = F.when(condition, why).otherwise(found)
        return found


def refused_by_route(rows: DataFrame) -> dict[RouteKey, TableChanges]:
    """Return how many rows with `WHY` are refused, by one job; refused truncates are changes."""
    is_applied = F.coalesce(F.col(EFFECT).isin(*APPLIED), F.lit(False))  # noqa: FBT003 - a column
    is_change = F.col("kind") == CHANGE
    message = F.concat_ws(": ", *(F.col(WHY)[name] for name in Refusal._fields))
    names = F.coalesce(names_in("key"), F.array().cast("array<string>"))
    first = F.struct(F.col(WHY)["code"], message, names)
    grouped = rows.groupBy(*source_columns(), "op").agg(
        F.count("*").alias("refused"),
        F.count_if(~is_change).alias("truncates"),
        F.count_if(is_applied & F.col("before_key").isNotNull()).alias("moves"),
        F.count_if(is_change & ~is_applied).alias("images"),
        F.min_by(first, F.struct(*position_columns())).alias("first"),
    )
    found: dict[RouteKey, TableChanges] = {}
    for row in grouped.collect():
        key = Source(**{name: row[name] for name in NAMES}), route_op(row["op"])
        counted = TableChanges(
            row["truncates"],
            row["refused"],
            first_refusal=FirstRefusal(*row["first"]),
            moved=-row["moves"],
            before_images=-row["images"],
        )
        found[key] = found.get(key, TableChanges()).plus(counted)
    return found


def with_reasons(rows: DataFrame, refused: Mapping[RouteKey, Refusal]) -> DataFrame:
    """Return rows with the column `ROUTE_WHY`: why changes from their source are refused."""
    found = [{"route": route_text(*key), ROUTE_WHY: why._asdict()} for key, why in refused.items()]
    kind = StructType([StructField("route", StringType()), StructField(ROUTE_WHY, FAILURE_TYPE)])
    reasons = local_rows(rows.sparkSession, pa.Table.from_pylist(found, arrow_schema(kind)), kind)
    source = F.col("source")
    texts = [F.coalesce(F.concat(F.lit("="), source[name]), F.lit("-")) for name in NAMES]
    op = F.when(F.col("op").isin(*WRITES), WRITE).otherwise(F.col("op"))
    with_route = rows.withColumn("route", F.concat_ws("\n", op, *texts))
    return with_route.join(F.broadcast(reasons), "route", "left").drop("route")


def route_text(source: Source, op: str) -> str:
    """Return a source and an operation as text, another one for every other."""
    names = (getattr(source, name) for name in NAMES)
    return "\n".join([op, *("-" if name is None else f"={name}" for name in names)])
