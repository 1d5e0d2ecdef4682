"""Tables that are there, or are made: the one of a target, and that of its tombstones."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.merge import Place
from changewire.engines.spark.apply.metadata import TOMBSTONES
from changewire.engines.spark.apply.shape import Shape
from changewire.engines.spark.stream.errors import OutputError
from changewire.engines.spark.types import nullable
from changewire.tables.metadata import COLUMN
from changewire.tables.names import beside

SUFFIX = "__tombstones"
"""What the name of a table of tombstones ends in."""


def place_of(
    spark: SparkSession, target: str, shape: Shape, format: TableFormat, *, is_path: bool
) -> Place:
    """Return the table of a target, made if it is not there.

    Raises:
        OutputError: It is there, and has other columns.
    """

    def made(name: str, columns: StructType) -> str:
        format.create(spark, name, columns, is_path=is_path)
        identifier = format.identifier(name, is_path=is_path)
        _check(spark.table(identifier).schema, columns, identifier)
        return identifier

    graves = beside(target, SUFFIX, is_path=is_path)
    return Place(made(target, shape.columns), made(graves, TOMBSTONES), format, shape)


def _check(found: StructType, needed: StructType, identifier: str) -> None:
    for field in needed.fields:
        kind = nullable(field.dataType).simpleString()
        there = found[field.name].dataType if field.name in found.names else None
        if there is not None and nullable(there).simpleString() == kind:
            continue
        has = "lacks it" if there is None else f"has {there.simpleString()}"
        advice = "; it was not made by changewire" if field.name == COLUMN else ""
        raise OutputError(
            f"{identifier}: a column {field.name} of type {kind} is needed, and the table {has}"
            f"{advice}"
        )
