"""Settings by table in Spark: what tables are made with."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StringType, StructField, StructType
from tests.runtime.engines.merge.lake import lake_in, one_by_one
from tests.runtime.engines.merge.messages import records
from tests.runtime.engines.settings_cases import (
    FATES,
    FATES_OF_ROWS,
    FAULTS,
    HOSTILE,
    LAID_OUT,
    LAID_OUT_ROWS,
    MISSPELLED,
    NOT_REBUILT,
    PARTITIONED,
    PROPERTIES,
    WARNING,
    fates,
    first,
    later,
    odd,
    write,
)

import changewire.spark as cws
from changewire.engines.errors import OutputError
from changewire.engines.partitions import Partition
from changewire.engines.settings import Settings
from changewire.engines.spark.merge.formats import format_of, properties_of
from changewire.engines.spark.session import changed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRANSFORMS = ("bucket(4, id)", "days(day)")


@pytest.fixture
def with_statistics(spark: SparkSession) -> Iterator[None]:
    """Let Delta look at statistics: else it does not read tables with deletion vectors."""
    with changed(spark, {"spark.databricks.delta.stats.skipping": "true"}):
        yield


@pytest.mark.usefixtures("with_statistics")
@pytest.mark.parametrize("table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.long)])
def test_tables_are_made_with_partitions_and_properties(
    spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    """Their metadata say so; rows move between partitions, also by a rebuild."""
    lake = lake_in(table_format, spark, tmp_path)
    by = ["day"] if table_format == "delta" else TRANSFORMS
    vectors = {"delta.enableDeletionVectors": "true"} if table_format == "delta" else {}
    laid_out = {**PARTITIONED["d.t"], "partition_by": by, "properties": vectors}
    options: dict[str, Any] = {
        "format": "dataworks-json",
        "row_schema": "auto",
        "tables": {**PARTITIONED, "d.t": laid_out},
    }
    lake.send_records(records(*first()))
    lake.send_records(records(*later(), start=10))
    with one_by_one(table_format):
        lake.apply_messages(spark, **options)
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    log = places.pop("log")
    names = {n: places["target"].format(table=n) for n in ("t", "u")}
    tables = {n: one if "/" not in one else f"delta.`{one}`" for n, one in names.items()}
    rows = [(1, date(2026, 1, 3), None), (3, None, '{"day":"soon"}')]
    found = spark.table(tables["t"]).orderBy("id").select("id", "day", "_changewire.rescued")
    assert [*map(tuple, found.collect())] == rows
    other = spark.table(tables["t"]).limit(1)
    other = other.withColumns({"id": F.lit(77).cast("long"), "day": F.lit(date(2020, 1, 1))})
    other.writeTo(tables["t"]).append()
    with changed(spark, {"spark.sql.sources.partitionOverwriteMode": "dynamic"}):
        cws.rebuild(spark, log, **places, tables=["d.t"])
    asked: dict[str, Any] = {"d.u": {"partition_by": ["id"]}}
    cws.rebuild(spark, log, **places, tables=["d.u"], row_schema="auto", settings=asked)
    found = spark.table(tables["t"]).orderBy("id").select("id", "day", "_changewire.rescued")
    assert [*map(tuple, found.collect())] == rows
    for name, table in tables.items():
        has = spark.sql(f"SHOW TBLPROPERTIES {table}").collect()
        assert PROPERTIES.items() <= {row["key"]: row["value"] for row in has}.items()
        if table_format == "delta":
            (detail,) = spark.sql(f"DESCRIBE DETAIL {table}").collect()
            assert detail["partitionColumns"] == (["day"] if name == "t" else ["id"])
            assert ("deletionVectors" in detail["tableFeatures"]) is (name == "t")
    if table_format == "iceberg":
        described = spark.sql(f"DESCRIBE {tables['t']}").collect()
        assert {one["data_type"] for one in described} >= {*TRANSFORMS}


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_partitions_have_any_names(spark: SparkSession, tmp_path: Path, table_format: str) -> None:
    """Spark reads the name of a column that partitions a table twice; Iceberg has transforms."""
    lake, tables = lake_in(table_format, spark, tmp_path), format_of(table_format)
    target, names = lake.places["target"].format(table="t"), ["order-date", "订单"]
    if table_format == "iceberg":
        names += ["it`s", "a.b", "select"]
    columns = StructType([StructField(one, StringType()) for one in ("id", *names)])
    parts = [*map(Partition, names)]
    if table_format == "iceberg":
        parts.append(Partition("id", "bucket", 4))
    tables.create(spark, target, columns, {}, Settings(partition_by=tuple(parts)))
    if table_format == "delta":
        found = DeltaTable(target).metadata().partition_columns
    else:
        found = spark.table(f"{target}.partitions").select("partition.*").columns
        names += ["id_bucket"]
    assert found == names


def test_deletes_and_misfits_by_table(spark: SparkSession, tmp_path: Path) -> None:
    """One table keeps its deleted rows and refuses values, another one does neither."""
    lake, sent = lake_in("delta", spark, tmp_path), records(*fates())
    lake.send_records(sent[::2])
    lake.send_records(sent[1::2])
    lake.apply_messages(spark, format="dataworks-json", row_schema="auto", tables=FATES)
    for name, expected in FATES_OF_ROWS.items():
        found = [(one["id"], one["day"], one["_changewire"]) for one in lake.rows(spark, name)]
        rows = [(key, day, state["deleted"], state["rescued"]) for key, day, state in found]
        assert sorted(rows) == expected
    assert [row["offset"] for row in lake.refusals(spark)] == [4]
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    log = places.pop("log")
    assert lake.faults(spark) == []
    cws.rebuild(spark, log, **places, tables=["d.t"], deletes="remove")
    lake.send_records(records(write(3), start=20))
    lake.apply_messages(spark, format="dataworks-json", row_schema="auto")
    assert not any(one["_changewire"]["deleted"] for one in lake.rows(spark, "t"))
    assert lake.faults(spark) == []


def test_delta_is_clustered(spark: SparkSession, tmp_path: Path) -> None:
    """A table is clustered from its first batch on, and gets further columns."""
    lake = lake_in("delta", spark, tmp_path)
    settings = {"cluster_by": ["day", "id"], "columns": {"day": "date"}}
    options: dict[str, Any] = {"format": "dataworks-json", "row_schema": "auto"}
    options["tables"] = {"*": settings}
    for start, sent in ((0, [write(1)]), (5, [write(1, 2, day="2026-01-02", kind="a")])):
        lake.send_records(records(*sent, start=start))
    with one_by_one("delta"):
        lake.apply_messages(spark, **options)
    assert clusters(spark, f"delta.`{lake.tables}/t`") == ["day", "id"]
    (row,) = lake.table(spark, "t").collect()
    assert (row["day"], row["kind"]) == (date(2026, 1, 2), "a")
    lake.send_records(records(write(2), start=9))
    options["tables"] = {"d.t": {"cluster_by": ["id"]}}
    with pytest.raises(
        OutputError, match=r"t: it has cluster_by .*day', 'id'.*, and `tables` asks"
    ):
        lake.apply_messages(spark, **options)


def clusters(spark: SparkSession, table: str) -> list[str]:
    """Return the columns that a table of Delta is clustered by."""
    (detail,) = spark.sql(f"DESCRIBE DETAIL {table}").collect()
    return [one.strip("`").replace("``", "`") for one in detail["clusteringColumns"]]


@pytest.mark.parametrize("table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.long)])
def test_a_rebuild_gives_tables_what_settings_ask(
    spark: SparkSession, tmp_path: Path, table_format: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Types, partitions, properties and deleted rows; until then a run that asks says so."""
    lake, options = lake_in(table_format, spark, tmp_path), {"format": "dataworks-json"}
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    by: dict[str, Any] = {"cluster_by": [HOSTILE], "partition_by": []}
    if table_format == "iceberg":
        by = {"partition_by": [f"days({HOSTILE})", "bucket(4, id)"]}
    asked: dict[str, Any] = {**LAID_OUT, "d.t": {**LAID_OUT["d.t"], **by}}
    lake.send_records(records(odd(1, kind=""), odd(2), odd(2, 2, "DELETE")))
    lake.apply_messages(spark, row_schema="auto", **options)
    lake.send_records(records(odd(3), start=5))
    with pytest.raises(OutputError, match=r"it has no partitions, and .* row_schema and these"):
        lake.apply_messages(spark, row_schema="auto", tables=asked, **options)
    of_delta = ({"partition_by": [HOSTILE]}, "and a MERGE of Delta does not find it")
    refused = NOT_REBUILT[:2] if table_format == "iceberg" else (NOT_REBUILT[2], of_delta)
    for settings, reason in refused:
        with pytest.raises(OutputError) as error:
            cws.rebuild(
                spark, **places, row_schema="auto", settings=dict[str, Any]({"d.t": settings})
            )
        assert reason in str(error.value)
    cws.rebuild(spark, **places, row_schema="auto", settings={**asked, **MISSPELLED})
    assert [one.message for one in caplog.records if one.name == "changewire.rebuild"] == [WARNING]
    asked["*"] = {"properties": {"shop.owner": "sales"}}
    lake.apply_messages(spark, row_schema="auto", tables=asked, **options)
    found = lake.table(spark, "t").orderBy("id").collect()
    rows = [(row["id"], row[HOSTILE], row["_changewire"]["deleted"]) for row in found]
    assert rows == LAID_OUT_ROWS
    table = format_of(table_format).identifier(places["target"].format(table="t"))
    properties = properties_of(spark, table)
    assert {**PROPERTIES, "shop.owner": "sales"}.items() <= properties.items()
    if table_format == "delta":
        assert clusters(spark, table) == [HOSTILE]
        with pytest.raises(OutputError, match="and Delta gives such a table no partitions"):
            cws.rebuild(
                spark, **places, row_schema="auto", settings={"*": {"partition_by": ["id"]}}
            )
    asked["d.t"] |= {key: [] for key in by}
    cws.rebuild(spark, **places, row_schema="auto", settings=asked)
    if table_format == "delta":
        assert clusters(spark, table) == []
        return
    asked["d.t"] |= by
    lake.send_records(records(odd(3, 2), start=9))
    with pytest.raises(OutputError, match="it has no partitions"):
        lake.apply_messages(spark, row_schema="auto", tables=asked, **options)


def test_a_table_that_cannot_be_made(spark: SparkSession, tmp_path: Path) -> None:
    """Its changes are refused, and other tables go on."""
    lake = lake_in("delta", spark, tmp_path)
    names = [f"t{number}" for number in range(len(FAULTS))]
    settings: dict[str, Any] = {
        f"d.{name}": one for name, (one, _) in zip(names, FAULTS, strict=True)
    }
    settings["d.both"] = {"partition_by": ["id"], "cluster_by": ["id"]}
    settings["d.flags"] = {"cluster_by": ["{flag}"], "columns": {"{flag}": "boolean"}}
    tables = (*names, "both", "flags", "u")
    lake.send_records(records(*(write(1, table=name) for name in tables)))
    (counts,) = lake.apply_messages(
        spark, format="dataworks-json", row_schema="auto", tables=settings
    )
    assert (counts["refused"], counts["inserted"]) == (len(FAULTS) + 2, 1)
    others = [
        "it cannot have both `partition_by` and `cluster_by`",
        "`{flag}` : BOOLEAN don't support",
    ]
    reasons = [*(why for _, why in FAULTS), *others]
    for row, reason in zip(lake.refusals(spark), reasons, strict=True):
        assert row["code"] == "partition-mismatch"
        assert reason in row["message"]
    assert lake.names() == ["u"]
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    flags: dict[str, Any] = {"d.u": settings["d.flags"]}
    with pytest.raises(OutputError, match=r"flag}` : BOOLEAN don't support"):
        cws.rebuild(spark, **places, row_schema="auto", settings=flags, only_tables=["d.u"])


def test_what_tables_of_iceberg_cannot_have(spark: SparkSession, tmp_path: Path) -> None:
    """Clusters are an error before anything is written; a transform of text refuses changes."""
    lake = lake_in("iceberg", spark, tmp_path)
    lake.send_records(records(write(1)))
    with pytest.raises(ValueError, match="tables of Iceberg have none"):
        lake.apply_messages(spark, format="dataworks-json", tables={"*": {"cluster_by": ["id"]}})
    days: dict[str, Any] = {"row_schema": "auto", "tables": {"*": {"partition_by": ["days(kind)"]}}}
    lake.send_records(records(write(2, kind="a"), start=10))
    (counts,) = lake.apply_messages(spark, format="dataworks-json", **days)
    refused = lake.log(spark).where("kind = 'refused'").select("code", "message").distinct()
    reason = "column 'kind' is string, which days(kind) does not take"
    assert counts["refused"] == 2
    assert [(row["code"], reason in row["message"]) for row in refused.collect()] == [
        ("partition-mismatch", True)
    ]
