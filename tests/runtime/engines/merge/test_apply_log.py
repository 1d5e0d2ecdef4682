"""Tables are a stream of the log: from its start, for another target, and in the other engine."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from tests.runtime.engines.merge.lake import Lake, lake_in, one_by_one
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge.test_histories import cut
from tests.runtime.engines.merge_local.lake import Lake as LocalLake
from tests.runtime.engines.merge_local.test_histories import cut as cut_once
from tests.runtime.tables.histories import in_tables
from tests.runtime.tables.model import Content, filled, tables_of

import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines.options import AVAILABLE_NOW
from changewire.engines.spark.session import changed
from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORIES = 12
FORMAT = "dataworks-json"
UNTIL = pa.schema({"id": pa.int64(), "until": pa.timestamp("us", "UTC")})


def apply_log(spark: SparkSession, lake: Lake, log: str, **options: Any) -> None:
    """Apply a log to the tables of a lake, to its end."""
    places = {name: lake.places[name] for name in ("target", "checkpoint", "table_format")}
    rows = {"default_table": "null", "row_schema": "json"}
    given: dict[str, Any] = {"trigger": AVAILABLE_NOW, **rows, **places, **options}
    cws.await_termination(cws.apply_log(spark, log, **given))


@pytest.fixture(scope="module", params=["delta", "iceberg"])
def landed(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lake, list[PositionedChange]]:
    """Drawn histories in a log and tables."""
    lake = lake_in(request.param, spark, tmp_path_factory.mktemp("log"), lands_in_spark=True)
    batches = [in_tables(batch, {"u": "t"}) for batch in cut(HISTORIES, 2)]
    for batch in batches:
        lake.send(batch)
    lake.apply(spark)
    return lake, [one for batch in batches for one in batch]


def other(lake: Lake) -> Lake:
    """Return a lake for other tables of the same log."""
    folder = lake.folder and lake.folder.with_name(f"{lake.folder.name}_other")
    namespace = lake.namespace and f"{lake.namespace}_other"
    return replace(lake, root=lake.root / "other", folder=folder, namespace=namespace)


@pytest.mark.long
def test_tables_are_those_of_the_model(
    spark: SparkSession, landed: tuple[Lake, list[PositionedChange]]
) -> None:
    """Also if all of the log is applied once more, and for a target that is added later."""
    lake, sent = landed
    expected = filled(tables_of(sent, befores_wait=True))
    assert filled(lake.content(spark)) == expected
    shutil.rmtree(lake.root / "checkpoint" / "tables")
    apply_log(spark, lake, lake.places["log"])
    assert filled(lake.content(spark)) == expected
    later = other(lake)
    apply_log(spark, later, lake.places["log"])
    assert filled(later.content(spark)) == expected


@pytest.mark.long
def test_a_log_that_landed_without_spark_is_applied(spark: SparkSession, tmp_path: Path) -> None:
    """Its tables are those of the other engine and of the model; `test_cases` has the reverse."""
    batches = cut_once(HISTORIES)[:2]
    expected = filled(tables_of([one for batch in batches for one in batch], befores_wait=True))
    local, theirs = LocalLake(tmp_path / "local"), Lake(tmp_path / "theirs")
    for batch in batches:
        local.apply(batch)
    apply_log(spark, theirs, local.places["log"])
    found: list[Content] = [local.content(), theirs.content(spark)]
    assert [filled(one) for one in found] == [expected] * 2


def test_a_log_is_compacted_and_cleaned_up(spark: SparkSession, tmp_path: Path) -> None:
    """Rows written again, or removed by retention, are not new; if they were not read, it says so.

    The error says what to do, and that helps.
    """
    lake, progress = Lake(tmp_path), tmp_path / "checkpoint" / "tables"
    early = tmp_path / "early"
    for number in range(2):
        lake.send_records(records(message("INSERT", 1, {"id": number}), start=number))
    lake.apply_messages(spark, format=FORMAT)
    shutil.copytree(progress, early)
    log, place = lake.places["log"], f"delta.`{lake.places['log']}`"
    spark.sql(f"OPTIMIZE {place}")
    spark.sql(f"DELETE FROM {place} WHERE offset = 0")  # noqa: S608 - a path of ours
    clean_up(log)
    lake.send_records(records(message("INSERT", 1, {"id": 2}), start=2))
    (counts,) = lake.apply_messages(spark, format=FORMAT)
    assert (counts["inserted"], len(lake.rows(spark, "t"))) == (1, 3)
    shutil.rmtree(progress)
    early.rename(progress)
    DeltaTable(log).optimize.compact()
    clean_up(log)
    with pytest.raises(cws.OutputError, match=r"run `rebuild`, then delete the folder `tables`"):
        lake.apply_messages(spark, format=FORMAT)
    cwd.rebuild(log, target=lake.places["target"])
    shutil.rmtree(progress)
    lake.send_records(records(message("INSERT", 1, {"id": 3}), start=3))
    lake.apply_messages(spark, format=FORMAT)
    assert {row["id"] for row in lake.json_rows(spark, "t")} == {1, 2, 3}


def clean_up(log: str) -> None:
    """Remove the files that the newest version of a log lacks."""
    DeltaTable(log).vacuum(0, dry_run=False, enforce_retention_duration=False)


def test_a_new_target_gets_rows_whose_snapshots_expired(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Iceberg's source starts behind them: deletes among them count for late changes all the same.

    So a query whose version expired starts anew as the error says.
    """
    lake = lake_in("iceberg", spark, tmp_path / f"expired_{tmp_path.name}")
    log = lake.places["log"]
    lake.send_records(
        records(
            message("INSERT", 1, {"id": 1}),
            message("INSERT", 2, {"id": 2}),
            message("DELETE", 5, {"id": 2}),
        )
    )
    lake.apply_messages(spark, format=FORMAT)
    named = log.removeprefix("ice.")
    rewrite = f"table => '{named}', options => map('rewrite-all', 'true')"
    spark.sql(f"CALL ice.system.rewrite_data_files({rewrite})").collect()
    late = "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1"
    spark.sql(f"CALL ice.system.expire_snapshots(table => '{named}', {late})").collect()
    with pytest.raises(cws.OutputError, match="was cleaned up; start the query, or verify without"):
        cws.verify(spark, **lake.places)
    changes = message("INSERT", 4, {"id": 2}), message("INSERT", 6, {"id": 3})
    lake.send_records(records(*changes, start=3))
    with pytest.raises(cws.OutputError, match=r"run `rebuild`, then delete the folder `tables`"):
        lake.apply_messages(spark, format=FORMAT)
    new = other(lake)
    apply_log(spark, new, log)
    assert sorted(row["id"] for row in new.json_rows(spark, "t")) == [1, 3]
    assert new.faults(spark, log=log) == []


def test_times_are_for_any_reader(spark: SparkSession, tmp_path: Path) -> None:
    """Also in a session with Spark's own default, INT96, which delta-rs misreads and rewrites."""
    lake, kinds = Lake(tmp_path, lands_in_spark=True), {"id": "LONG", "until": "DATE"}
    values = [message("INSERT", 1, {"id": 1, "until": 253_402_214_400_000}, types=kinds)]
    values += [message("INSERT", 2, {"id": 2, "until": None}, types=kinds)]
    with changed(spark, {"spark.sql.parquet.outputTimestampType": "INT96"}):
        for number, value in enumerate(values):
            lake.send_records(records(value, start=number))
        with one_by_one("delta"):
            lake.apply_messages(spark, format=FORMAT, row_schema=UNTIL)
        cws.rebuild(spark, lake.places["log"], target=lake.places["target"])
    files = [*tmp_path.glob("log/*.parquet"), *tmp_path.glob("tables/t/*.parquet")]
    stored = {column.physical_type for file in files for column in columns_of(file)}
    assert len(files) > 4
    assert "INT96" not in stored
    found = DeltaTable(str(tmp_path / "tables" / "t")).to_pyarrow_table().to_pylist()
    assert {str(row["until"]) for row in found} == {"9999-12-31 00:00:00+00:00", "None"}


def columns_of(file: Path) -> list[pq.ColumnSchema]:
    """Return how the columns of a file are stored."""
    schema = pq.ParquetFile(file).schema
    return [schema.column(index) for index in range(len(schema))]


def test_a_log_must_exist(spark: SparkSession, tmp_path: Path) -> None:
    """A sentence says that it does not, and none is made."""
    lake = Lake(tmp_path, lands_in_spark=True)
    with pytest.raises(cws.OutputError, match="the log does not exist"):
        apply_log(spark, lake, lake.places["log"])
    assert not Path(lake.places["log"]).exists()


def test_both_queries_run_side_by_side(spark: SparkSession, tmp_path: Path) -> None:
    """Without a trigger that ends, tables follow the log while messages land.

    If the first one is stopped early, the second one is not started; the next start goes on.
    """
    lake = Lake(tmp_path, lands_in_spark=True)
    lake.send_records(records(message("INSERT", 1, {"id": 1})))
    given: dict[str, Any] = {"format": FORMAT, "row_schema": "json", **lake.places}
    query = cws.apply_changes(lake.read(spark), trigger=AVAILABLE_NOW, **given)
    assert query.isActive
    query.stop()
    assert (query.isActive, query.apply) == (False, None)
    seldom = {"processingTime": "1 second"}
    query = cws.apply_changes(lake.read(spark), apply_trigger=seldom, **given)
    try:
        query.processAllAvailable()
        lake.send_records(records(message("INSERT", 1, {"id": 2}), start=2))
        query.processAllAvailable()
        assert len(lake.rows(spark, "t")) == 2
        assert query.isActive
        assert query.exception() is None
        assert not query.awaitTermination(1)
    finally:
        query.stop()
    assert not query.isActive
