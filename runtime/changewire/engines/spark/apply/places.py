"""Tables that are there, or are made: the one of a target, and that of its tombstones."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, Final

import msgspec
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.merge import Place
from changewire.engines.spark.apply.metadata import TOMBSTONES
from changewire.engines.spark.apply.shape import JsonShape, Shape
from changewire.engines.spark.stream.errors import OutputError
from changewire.engines.spark.types import nullable
from changewire.tables.metadata import COLUMN, metadata_of, state_from
from changewire.tables.names import beside
from changewire.tables.order import OLDEST, Order
from changewire.tables.state import tombstone

_TRUNCATED: Final = "changewire.truncated"
_KEYS: Final = "changewire.keys"

SUFFIX: Final = "__tombstones"
"""What the name of a table of tombstones ends in."""


def place_of(spark: SparkSession, target: str, shape: Shape | None, format: TableFormat) -> Place:
    """Return the table of a target, made if it is not there; without a shape its tombstones alone.

    Raises:
        OutputError: It is there, and has other columns.
    """

    def made(name: str, columns: StructType) -> str:
        format.create(spark, name, columns)
        identifier = format.identifier(name)
        _check(spark.table(identifier).schema, columns, identifier)
        return identifier

    graves = beside(target, SUFFIX)
    if shape is None:
        return Place(None, made(graves, TOMBSTONES), format, JsonShape())
    place = Place(made(target, shape.columns), made(graves, TOMBSTONES), format, shape)
    if keys_of(spark, place.tombstones) is None:
        keep_keys(spark, place)
    return place


def truncated(spark: SparkSession, place: Place) -> Order:
    """Return the order of the newest truncate of a table, which its tombstones keep."""
    found = _property(spark, place.tombstones, _TRUNCATED)
    return OLDEST if found is None else state_from(found, None).order


def keep_truncated(spark: SparkSession, place: Place, order: Order) -> None:
    """Keep the order of a truncate, so that nothing older comes back."""
    _set_property(spark, place.tombstones, _TRUNCATED, metadata_of(tombstone(order)))


def keys_of(spark: SparkSession, tombstones: str) -> tuple[str, ...] | None:
    """Return the columns of a table's key, which its tombstones keep.

    Args:
        spark: The session.
        tombstones: The table of tombstones, as SQL names it; it is there.
    """
    found = _property(spark, tombstones, _KEYS)
    return None if found is None else tuple(found)


def keep_keys(spark: SparkSession, place: Place) -> None:
    """Keep the columns of a table's key."""
    _set_property(spark, place.tombstones, _KEYS, place.shape.keys)


def _property(spark: SparkSession, table: str, name: str) -> Any:
    rows = spark.sql(f"SHOW TBLPROPERTIES {table}").collect()
    text = next((row["value"] for row in rows if row["key"] == name), None)
    return None if text is None else msgspec.json.decode(b64decode(text))


def _set_property(spark: SparkSession, table: str, name: str, value: Any) -> None:
    # Base64, since names in it may have any character, and SQL text gives some of them a meaning.
    text = b64encode(msgspec.json.encode(value)).decode()
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = '{text}')")


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
