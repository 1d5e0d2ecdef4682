"""Tables that something else has made, taken over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tests.runtime.engines.apply.lake import Lake, lake_in
from tests.runtime.engines.apply.test_typed_tables import landed, message
from tests.runtime.engines.apply.ways import DRIVER, SPARK, decided

import changewire.spark as cws

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"id": "LONG", "name": "STRING", "note": "STRING"}
ROW = StructType(
    [
        StructField("id", LongType()),
        StructField("name", StringType()),
        StructField("note", StringType()),
    ]
)
ROWS = [(1, "a", "x"), (2, "b", None), (3, "c", "z")]


def made(spark: SparkSession, lake: Lake, rows: list[Any]) -> str:
    """Make a table without changewire; return its name."""
    found = spark.createDataFrame(rows, ROW)
    if lake.sink == "delta":
        found.write.format("delta").save(f"{lake.folder}/t")
        return f"{lake.folder}/t"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS ice.{lake.namespace}")
    found.writeTo(f"ice.{lake.namespace}.t").using("iceberg").create()
    return f"ice.{lake.namespace}.t"


@pytest.mark.parametrize("sink", ["delta", "iceberg"])
def test_a_table_is_adopted_only_if_asked(spark: SparkSession, tmp_path: Path, sink: str) -> None:
    """Without, a query refuses it; then its rows are older than every change, and nothing else."""
    lake = lake_in(sink, spark, tmp_path)
    table = made(spark, lake, ROWS)
    changes = [
        message("UPDATE_AFTER", 2, TYPES, id=1, name="A", note="y"),
        message("DELETE", 3, TYPES, id=2, name="b", note=None),
        message("INSERT", -1, TYPES, id=4, name="d", note=None),
    ]
    options: dict[str, Any] = {"format": "dataworks-json", "rows": ROW}
    with pytest.raises(cws.OutputError, match=r"takes it over by changewire\.spark\.adopt"):
        landed(spark, lake, changes, **options)
    assert cws.adopt(spark, table, keys=["id"], sink=sink) == len(ROWS)
    assert cws.adopt(spark, table, keys=["id"], sink=sink) == 0
    landed(spark, lake, **options)
    assert held(spark, lake) == [(1, "A", "y"), (3, "c", "z"), (4, "d", None)]
    late = [message("INSERT", 2, TYPES, id=2, name="late", note=None)]
    landed(spark, lake, late, **options)
    assert [row[0] for row in held(spark, lake)] == [1, 3, 4]


def held(spark: SparkSession, lake: Lake) -> list[Any]:
    """Return the rows of the table."""
    table = spark.read.format(lake.sink).load(f"{lake.folder}/t")
    return [tuple(row) for row in table.select("id", "name", "note").orderBy("id").collect()]


def test_rows_that_something_else_adds(spark: SparkSession, tmp_path: Path) -> None:
    """A query that meets one ends, and does not take it for none; `adopt` gives it an order."""
    lake = Lake(tmp_path)
    table = made(spark, lake, ROWS)
    assert cws.adopt(spark, table, keys=["id"]) == len(ROWS)
    with pytest.raises(cws.OutputError, match=r"the table's key is \(id\), not \(id, name\)"):
        cws.adopt(spark, table, keys=["name", "id"])
    added = spark.createDataFrame([(9, "x", "y")], ROW)
    added.write.format("delta").mode("append").save(table)
    deleted = [message("DELETE", 3, TYPES, id=9, name="x", note="y")]
    options: dict[str, Any] = {"format": "dataworks-json", "rows": ROW}
    for way, batches in ((DRIVER, [deleted]), (SPARK, [])):
        with (
            decided(way),
            pytest.raises(cws.OutputError, match=r"a row has no _changewire, so something else"),
        ):
            landed(spark, lake, *batches, **options)
    assert cws.adopt(spark, table, keys=["id"]) == 1
    with decided(SPARK):
        landed(spark, lake, **options)
    assert [row[0] for row in held(spark, lake)] == [1, 2, 3]


def test_a_key_names_each_row(spark: SparkSession, tmp_path: Path) -> None:
    """Columns that do not name rows are refused, and the table stays as it was."""
    lake = Lake(tmp_path)
    table = made(spark, lake, [*ROWS, (3, "c", "other"), (None, "e", "x")])
    with pytest.raises(ValueError, match="keys are names of columns, at least one"):
        cws.adopt(spark, table, keys=[])
    refused = {
        ("sku",): "the key's column sku is not one of the table's",
        ("id",): r"1 rows have NULL in the key \(id\)",
        ("name",): r"1 keys \(name\) have more than one row each",
    }
    for keys, why in refused.items():
        with pytest.raises(cws.OutputError, match=why):
            cws.adopt(spark, table, keys=keys)
    assert spark.read.format("delta").load(table).columns == ROW.names
    assert lake.tables() == ["t"]
    assert not Path(f"{table}__tombstones").exists()
