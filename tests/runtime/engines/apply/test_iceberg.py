"""Tables of Iceberg are what those of Delta are."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DecimalType,
    IntegerType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
)
from tests.runtime.engines.apply.faults import ending_at
from tests.runtime.engines.apply.lake import lake_in
from tests.runtime.engines.apply.test_typed_tables import landed
from tests.runtime.engines.ends import crash
from tests.runtime.tables.histories import change, placed
from tests.runtime.tables.model import tables_of
from tests.samples import examples

import changewire.spark as cws
from changewire.engines.spark.apply.formats import format_of
from changewire.engines.spark.apply.plan import SparkRules
from changewire.engines.typed.evolve import evolved
from changewire.framing import FramingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_each_effect_is_once_in_log_and_table(spark: SparkSession, tmp_path: Path) -> None:
    """A query ends between its steps and goes on; in the end all is as the model says."""
    lake = lake_in("iceberg", spark, tmp_path)
    first = placed(change(key=1, a=1), change(key=2, a=1), change(key=3, a=1))
    second = placed(
        change("delete", 1, 3),
        change(key=2, sequence=3, a=2, b="\u00e9"),
        change("update", 4, 3, old=3, before={"id": 3}, a=2),
        change("update", 2, 4, image="patch", c=1.5),
        start=10,
    )
    lake.send(first)
    lake.apply(spark)
    lake.send(second)
    for step in ("after tombstones", "after rows"):
        with (
            ending_at(step, crash),
            pytest.raises(StreamingQueryException, match="CrashError"),
        ):
            lake.apply(spark)
    lake.apply(spark)
    assert lake.content(spark) == tables_of([*first, *second])
    spark.catalog.refreshTable(lake.outputs()["changes"])
    logged = spark.table(lake.outputs()["changes"]).collect()
    assert sorted(row["offset"] for row in logged) == [0, 1, 2, 10, 11, 12, 13]
    with pytest.raises(FramingError, match="Iceberg cannot be read without Spark"):
        lake.verdict("t", 1)


def test_columns_get_wider_types(spark: SparkSession, tmp_path: Path) -> None:
    """What a replay brings by a wider type of the user's widens the column."""
    lake = lake_in("iceberg", spark, tmp_path)
    write = examples("write")[0]
    values = [
        json.dumps({**write, "bins": [{"name": "n", "type": "float", "value": value}]}).encode()
        for value in (1.25, 11.25)
    ]
    types = [StructType([StructField("n", DecimalType(size, 2))]) for size in (3, 4)]
    landed(spark, lake, values, format="aerospike-json", rows=types[0])
    places: dict[str, Any] = lake.outputs()
    told = [
        cws.replay(
            spark,
            format="aerospike-json",
            target=lake.template,
            sink="iceberg",
            checkpoint=str(lake.root / "checkpoint"),
            rows=types[1],
            **places,
        )
        for _ in range(2)
    ]
    assert [(one.letters, one.marked) for one in told] == [(1, 1), (0, 0)]
    (name,) = lake.tables()
    (found,) = spark.read.format("iceberg").load(f"{lake.folder}/{name}").collect()
    assert found["n"] == Decimal("11.25")


def test_types_are_those_that_iceberg_has() -> None:
    """Small integers are larger there, wherever they stand, and no scale changes."""
    iceberg = format_of("iceberg")
    small = StructType([StructField("a", ArrayType(MapType(StringType(), ByteType())))])
    large = StructType([StructField("a", ArrayType(MapType(StringType(), IntegerType())))])
    nested = StructType([StructField("s", small), StructField("i", ShortType())])
    kept = [field.dataType for field in iceberg.kept(nested).fields]
    assert kept == [large, IntegerType()]
    there, wider, finer = (
        StructType([StructField("d", DecimalType(*size))]) for size in ((5, 2), (9, 2), (9, 3))
    )
    widens = SparkRules(iceberg).widens
    found = evolved(there.jsonValue(), [("x", wider.jsonValue())], widens=widens)
    assert found.columns == wider.jsonValue()
    assert "x" in evolved(there.jsonValue(), [("x", finer.jsonValue())], widens=widens).refused


def test_tables_have_names(spark: SparkSession, tmp_path: Path) -> None:
    """A path is refused where the query is asked for, and not in its first batch."""
    stream = spark.readStream.schema("value binary").parquet(str(tmp_path))
    names = ("changes", "controls", "dead_letters")
    places: dict[str, Any] = {name: f"ice.refused.{name}" for name in names}
    common: Any = {"checkpoint": str(tmp_path / "c"), "sink": "iceberg", "format": "lindorm-json"}
    with pytest.raises(ValueError, match="iceberg have names"):
        cws.apply_changes(stream, target=f"{tmp_path}/{{table}}", **places, **common)
    places["controls"] = str(tmp_path / "controls")
    with pytest.raises(ValueError, match="iceberg have names"):
        cws.apply_changes(stream, target="ice.refused.{table}", **places, **common)
