"""Settings by table in Spark: what tables are made with."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.runtime.engines.merge.lake import lake_in
from tests.runtime.engines.merge.messages import records
from tests.runtime.engines.settings_cases import (
    FATES,
    FATES_OF_ROWS,
    FAULTS,
    PARTITIONED,
    PROPERTIES,
    fates,
    first,
    later,
    write,
)

import changewire.spark as cws

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRANSFORMS = ("bucket(4, id)", "days(day)")


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_tables_are_made_with_partitions_and_properties(
    spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    """Their metadata say so; rows move between partitions, also by a rebuild."""
    lake = lake_in(table_format, spark, tmp_path)
    by = ["day"] if table_format == "delta" else TRANSFORMS
    options: dict[str, Any] = {
        "format": "dataworks-json",
        "row_schema": "auto",
        "tables": {**PARTITIONED, "d.t": {**PARTITIONED["d.t"], "partition_by": by}},
    }
    lake.send_records(records(*first()))
    lake.apply_messages(spark, **options)
    lake.send_records(records(*later(), start=10))
    lake.apply_messages(spark, **options)
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    log = places.pop("log")
    assert cws.verify(spark, log, **places).collect() == []
    cws.rebuild(spark, log, **places)
    names = {n: places["target"].format(table=n) for n in ("t", "u")}
    tables = {n: one if "/" not in one else f"delta.`{one}`" for n, one in names.items()}
    found = spark.table(tables["t"]).orderBy("id").select("id", "day", "_changewire.rescued")
    assert [*map(tuple, found.collect())] == [
        (1, date(2026, 1, 3), None),
        (3, None, '{"day":"soon"}'),
    ]
    for name, table in tables.items():
        has = spark.sql(f"SHOW TBLPROPERTIES {table}").collect()
        assert PROPERTIES.items() <= {row["key"]: row["value"] for row in has}.items()
        if table_format == "delta":
            (detail,) = spark.sql(f"DESCRIBE DETAIL {table}").collect()
            assert detail["partitionColumns"] == (["day"] if name == "t" else [])
    if table_format == "iceberg":
        described = spark.sql(f"DESCRIBE {tables['t']}").collect()
        assert {one["data_type"] for one in described} >= {*TRANSFORMS}


def test_deletes_and_misfits_by_table(spark: SparkSession, tmp_path: Path) -> None:
    """One table keeps its deleted rows and refuses values, another one does neither."""
    lake, sent = lake_in("delta", spark, tmp_path), records(*fates())
    lake.send_records(sent[::2])
    lake.send_records(sent[1::2])
    lake.apply_messages(spark, format="dataworks-json", row_schema="auto", tables=FATES)
    columns = ("id", "day", "_changewire.deleted", "_changewire.rescued")
    for name, expected in FATES_OF_ROWS.items():
        found = lake.table(spark, name).orderBy("id").select(*columns).collect()
        assert [*map(tuple, found)] == expected
    refused = lake.log(spark).where("kind = 'refused'").collect()
    assert [row["offset"] for row in refused] == [4]
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    log = places.pop("log")
    assert cws.verify(spark, log, **places).collect() == []
    cws.rebuild(spark, log, **places)
    assert cws.verify(spark, log, **places).collect() == []


def test_delta_is_clustered(spark: SparkSession, tmp_path: Path) -> None:
    """A table is clustered from its first batch on, and gets further columns."""
    lake = lake_in("delta", spark, tmp_path)
    settings = {"cluster_by": ["day", "id"], "columns": {"day": "date"}}
    options: dict[str, Any] = {"format": "dataworks-json", "row_schema": "auto"}
    options["tables"] = {"*": settings}
    for start, sent in ((0, [write(1)]), (5, [write(1, 2, day="2026-01-02", kind="a")])):
        lake.send_records(records(*sent, start=start))
        lake.apply_messages(spark, **options)
    (detail,) = spark.sql(f"DESCRIBE DETAIL delta.`{lake.tables}/t`").collect()
    assert detail["clusteringColumns"] == ["day", "id"]
    (row,) = lake.table(spark, "t").collect()
    assert (row["day"], row["kind"]) == (date(2026, 1, 2), "a")


def test_a_table_that_cannot_be_made(spark: SparkSession, tmp_path: Path) -> None:
    """Its changes are refused, and other tables go on."""
    lake = lake_in("delta", spark, tmp_path)
    names = [f"t{number}" for number in range(len(FAULTS))]
    settings: dict[str, Any] = {
        f"d.{name}": one for name, (one, _) in zip(names, FAULTS, strict=True)
    }
    settings["d.both"] = {"partition_by": ["id"], "cluster_by": ["id"]}
    lake.send_records(records(*(write(1, table=name) for name in (*names, "both", "u"))))
    (counts,) = lake.apply_messages(
        spark, format="dataworks-json", row_schema="auto", tables=settings
    )
    assert (counts["refused"], counts["inserted"]) == (len(FAULTS) + 1, 1)
    refused = lake.log(spark).where("kind = 'refused'").orderBy("offset").collect()
    both = "it cannot have both `partition_by` and `cluster_by`"
    for row, reason in zip(refused, [*(why for _, why in FAULTS), both], strict=True):
        assert row["code"] == "partition-mismatch"
        assert reason in row["message"]
    assert lake.names() == ["u"]


def test_iceberg_has_no_clusters(spark: SparkSession, tmp_path: Path) -> None:
    """They are an error before anything is written."""
    lake = lake_in("iceberg", spark, tmp_path)
    lake.send_records(records(write(1)))
    with pytest.raises(ValueError, match="tables of Iceberg have none"):
        lake.apply_messages(spark, format="dataworks-json", tables={"*": {"cluster_by": ["id"]}})
