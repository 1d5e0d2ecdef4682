"""Tables that something else has made, or that belong to another query."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import message, records

import changewire.spark as cws
from changewire.engines.errors import OutputError, OwnerError
from changewire.engines.spark.merge.adopt import adopt_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROW = StructType([StructField("id", LongType()), StructField("name", StringType())])


def test_a_table_of_something_else_is_adopted(spark: SparkSession, tmp_path: Path) -> None:
    """Its rows are older than every change, patched ones too; without a key it stays as it was."""
    lake = Lake(tmp_path)
    place = f"{lake.tables}/t"
    rows = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})
    write_deltalake(place, rows)
    write_deltalake(f"{place}_own", rows.rename_columns(["id", "_changewire"]))
    lake.send_records(
        records(
            message("UPDATE_AFTER", 1, {"id": 1, "name": "new"}),
            message("DELETE", 1, {"id": 2, "name": "b"}),
            message("UPDATE_AFTER", 1, {"id": 3}),
        )
    )
    with pytest.raises(OutputError, match=r"lacks it; it was not made by changewire.*adopt"):
        lake.apply_messages(spark, format="dataworks-json", row_schema=ROW, row_image="patch")
    with pytest.raises(OutputError, match="is not one of the table's"):
        adopt_table(spark, place, key_columns=["no"])
    with pytest.raises(OutputError, match=r"has string; rename it, because changewire adds"):
        adopt_table(spark, f"{place}_own", key_columns=["id"])
    with pytest.raises(ValueError, match="name them by `key_columns`"):
        adopt_table(spark, place)
    by_name = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    write_deltalake(f"{place}_maps", pa.table({"by_name": by_name}))
    with pytest.raises(OutputError, match=r"'by_name' is map<string,bigint>, which cannot be comp"):
        adopt_table(spark, f"{place}_maps", key_columns=["by_name"])
    adopt_table(spark, place, key_columns=["id"])
    lake.apply_messages(spark, format="dataworks-json", row_schema=ROW, row_image="patch")
    found = {row["id"]: row["name"] for row in lake.rows(spark, "t")}
    assert found == {1: "new", 3: "c"}
    table = f"delta.`{place}`"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN id TO number")
    lake.send_records(records(message("DELETE", 2, {"id": 3}), start=3))
    with pytest.raises(OutputError, match="its key has the column 'id', which it lacks"):
        lake.apply_messages(spark, format="dataworks-json", row_schema=ROW, row_image="patch")
    with pytest.raises(OutputError, match="its key has the column 'id', which it lacks"):
        cws.verify(spark, **lake.places)
    places = {name: one for name, one in lake.places.items() if name != "checkpoint"}
    for rows_asked in (None, ROW):
        with pytest.raises(OutputError, match="Rename it back"):
            cws.rebuild(spark, **places, row_schema=rows_asked)
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN number TO id")
    lake.apply_messages(spark, format="dataworks-json", row_schema=ROW, row_image="patch")
    assert [row["id"] for row in lake.table(spark, "t").collect()] == [1]


def test_a_table_of_another_query_is_taken_over(spark: SparkSession, tmp_path: Path) -> None:
    """Until then it keeps nothing out of the log; the query that had it is refused afterwards."""
    lake = Lake(tmp_path)
    lake.send_records(records(message("INSERT", 1, {"id": 1})))
    lake.apply_messages(spark, format="dataworks-json")
    query = Lake(tmp_path / "mine", folder=lake.tables, lands_in_spark=True)
    both = (message("INSERT", 2, {"id": number}) for number in range(2, 4))
    query.send_records(records(*both, start=2))
    with pytest.raises(OwnerError, match=r"belongs to the query .* changewire\.spark\.adopt_table"):
        query.apply_messages(spark, format="dataworks-json")
    assert len(DeltaTable(query.places["log"]).to_pyarrow_table()) == 2
    adopt_table(spark, f"{lake.tables}/t")
    (counts,) = query.apply_messages(spark, format="dataworks-json")
    assert counts["inserted"] == 2
    assert len(lake.rows(spark, "t")) == 3
    lake.send_records(records(message("INSERT", 2, {"id": 2}), start=1))
    with pytest.raises(OwnerError, match="belongs to the query"):
        lake.apply_messages(spark, format="dataworks-json")
