"""Typed rows without Spark are those of Spark: the same rows, and the same dead letters."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType
from tests.native.test_nested import MAKERS, struct_of, value_of
from tests.native.test_typed import drawn, fitting
from tests.runtime.codec.formats import FORMATS
from tests.runtime.engines.any_messages import KEYS, captured, mutated

import changewire.arrow as cwa
import changewire.spark as cws
from changewire.changes.schemas import schemas
from changewire.engines.spark.types import nullable, struct_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = 3


@cache
def messages(format: str) -> list[bytes]:
    """Return messages of the corpus and the examples, and damaged ones."""
    return [*captured(format), *mutated(format, 200, SEED)]


def both(
    spark: SparkSession, values: list[bytes], format: str, rows: Any, in_arrow: Any
) -> list[dict[str, Any]]:
    """Decode messages in Spark and without it; return the rows, which are the same."""
    offsets = pa.array(range(len(values)), pa.int64())
    sent = pa.table({"value": pa.array(values, pa.binary()), "offset": offsets})
    keys = KEYS.get(format)
    decoded = cws.decode(
        spark.createDataFrame(sent), format=format, key_columns=keys, row_schema=rows
    )
    # PySpark makes no Arrow table of NULL structs that have a field which is never NULL.
    loose = [decoded.rows[f.name].cast(nullable(f.dataType)) for f in decoded.rows.schema.fields]
    columns = [one.alias(name) for one, name in zip(loose, decoded.rows.columns, strict=True)]
    order = [("offset", "ascending"), ("element", "ascending")]
    by_spark = decoded.rows.select(*columns).toArrow().sort_by(order)
    here = cwa.decode(sent, format=format, key_columns=keys, row_schema=in_arrow).rows.read_all()
    assert here.column_names == by_spark.column_names
    for name in ("before", "after"):
        assert here.schema.field(name).type == by_spark.schema.field(name).type
    found: list[dict[str, Any]] = here.to_pylist(maps_as_pydicts="strict")
    assert [*map(repr, found)] == [*map(repr, by_spark.to_pylist(maps_as_pydicts="strict"))]
    return found


KINDS: dict[str, Callable[[str], StructType]] = {
    "fitting": fitting,
    "drawn": lambda name: drawn(name, SEED),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_columns_of_a_type(spark: SparkSession, format: str, kind: str) -> None:
    """A StructType and the same type in Arrow give the same rows."""
    row = KINDS[kind](format)
    found = both(spark, messages(format), format, row, struct_columns(row))
    assert {one["kind"] for one in found} >= {"change", "dead_letter"}


@pytest.mark.parametrize("format", MAKERS)
def test_columns_within_columns(spark: SparkSession, format: str) -> None:
    """Lists, maps and structs are the same at any depth, and so is what refuses a value."""
    draw = random.Random(SEED)  # noqa: S311 - the same in each run
    row = struct_of(draw, 4)
    values = [
        MAKERS[format]({f.name: value_of(draw, f.dataType) for f in row.fields}) for _ in range(200)
    ]
    found = both(spark, values, format, row, struct_columns(row))
    assert any(one["after"] and any(one["after"].values()) for one in found)


@pytest.mark.parametrize("format", ["dataworks-json", "lindorm-json"])
def test_columns_of_a_schema_in_the_messages(spark: SparkSession, format: str) -> None:
    """The text of such a schema gives the same columns, and the same leniencies."""
    found = schemas(messages(format), format=format).schemas
    usable = [one.text for one in found if len(one.columns) > 2]
    for schema in {usable[0], usable[-1]}:
        rows = both(spark, messages(format), format, schema, schema)
        assert {one["kind"] for one in rows} >= {"change", "dead_letter"}


def test_columns_of_a_json_schema(spark: SparkSession) -> None:
    """The dialect of changewire's own schemas gives the same columns."""
    described = {"description": "A bin."}
    schema = {
        "title": "User",
        "description": "A user.",
        "type": "object",
        "properties": {
            "count": {**described, "type": "integer"},
            "flag": described,
            "pi": {**described, "type": "number"},
            "photo": {**described, "type": "string", "contentEncoding": "base64"},
            "at": {**described, "type": "string", "format": "date-time"},
        },
        "examples": [{"count": 41}],
    }
    name = "aerospike-json"
    for given in (schema, json.dumps(schema)):
        found = both(spark, messages(name), name, given, given)
        assert {one["kind"] for one in found} >= {"change", "dead_letter"}
