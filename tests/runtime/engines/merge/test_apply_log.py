"""Tables are a stream of the log: from its start, for another target, and in the other engine."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.runtime.engines.merge.lake import Lake, lake_in
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


def apply_log(spark: SparkSession, lake: Lake, log: str, **options: Any) -> None:
    """Apply a log to the tables of a lake, to its end."""
    places = {name: lake.places[name] for name in ("target", "checkpoint", "table_format")}
    rows = {"default_table": "null", "row_schema": "json"}
    given: dict[str, Any] = {"trigger": AVAILABLE_NOW, **rows, **places, **options}
    cws.await_termination(cws.apply_log(spark, log, **given))


@pytest.fixture(scope="module", params=["delta", pytest.param("iceberg", marks=pytest.mark.long)])
def landed(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lake, list[PositionedChange]]:
    """Drawn histories in a log and tables."""
    lake = lake_in(request.param, spark, tmp_path_factory.mktemp("log"))
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


def test_each_engine_applies_a_log_of_the_other(spark: SparkSession, tmp_path: Path) -> None:
    """A log that Spark landed becomes tables without it, and the other way round."""
    batches = cut_once(HISTORIES)[:2]
    expected = filled(tables_of([one for batch in batches for one in batch], befores_wait=True))
    lake, local = Lake(tmp_path / "spark"), LocalLake(tmp_path / "local")
    for batch in batches:
        lake.send(batch)
        local.apply(batch)
    lake.apply(spark)
    ours = LocalLake(tmp_path / "ours")
    cwd.apply_log(
        lake.places["log"],
        target=ours.places["target"],
        row_schema="json",
        default_table="null",
    )
    theirs = Lake(tmp_path / "theirs")
    apply_log(spark, theirs, local.places["log"])
    found: list[Content] = [local.content(), ours.content(), theirs.content(spark)]
    assert [filled(one) for one in found] == [expected] * 3


def test_a_foreign_table_keeps_nothing_out_of_the_log(spark: SparkSession, tmp_path: Path) -> None:
    """The error comes after all messages have landed; what is missing is applied later."""
    lake = Lake(tmp_path)
    lake.send_records(records(message("INSERT", 1, {"id": 1})))
    lake.apply_messages(spark, format=FORMAT)
    query = Lake(tmp_path / "mine", folder=lake.tables)
    for number in range(2, 4):
        query.send_records(records(message("INSERT", 2, {"id": number}), start=number))
    with pytest.raises(cws.OwnerError):
        query.apply_messages(spark, format=FORMAT)
    assert query.log(spark).count() == 2
    cws.adopt_table(spark, f"{lake.tables}/t")
    (counts,) = query.apply_messages(spark, format=FORMAT)
    assert counts["inserted"] == 2
    assert lake.table(spark, "t").count() == 3


def test_the_log_is_compacted_and_cleaned_up(spark: SparkSession, tmp_path: Path) -> None:
    """Rows that are written again, or removed by retention, end no query and are not new."""
    lake = Lake(tmp_path)
    for number in range(3):
        lake.send_records(records(message("INSERT", 1, {"id": number}), start=number))
        lake.apply_messages(spark, format=FORMAT)
    log = f"delta.`{lake.places['log']}`"
    spark.sql(f"OPTIMIZE {log}")
    spark.sql(f"DELETE FROM {log} WHERE offset = 0")  # noqa: S608 - a path of ours
    check = "spark.databricks.delta.retentionDurationCheck.enabled"
    with changed(spark, {check: "false"}):
        spark.sql(f"VACUUM {log} RETAIN 0 HOURS")
    lake.send_records(records(message("INSERT", 1, {"id": 3}), start=3))
    (counts,) = lake.apply_messages(spark, format=FORMAT)
    assert (counts["inserted"], lake.table(spark, "t").count()) == (1, 4)


def test_files_of_the_log_are_gone_too_early(spark: SparkSession, tmp_path: Path) -> None:
    """The error says what to do, and that helps."""
    lake, progress = Lake(tmp_path), tmp_path / "checkpoint" / "tables"
    for number in range(3):
        lake.send_records(records(message("INSERT", 1, {"id": number}), start=number))
        lake.apply_messages(spark, format=FORMAT)
        if number == 0:
            shutil.copytree(progress, tmp_path / "early")
    shutil.rmtree(progress)
    (tmp_path / "early").rename(progress)
    log, check = lake.places["log"], "spark.databricks.delta.retentionDurationCheck.enabled"
    spark.sql(f"OPTIMIZE delta.`{log}`")
    with changed(spark, {check: "false"}):
        spark.sql(f"VACUUM delta.`{log}` RETAIN 0 HOURS")
    with pytest.raises(cws.OutputError, match=r"run `rebuild`, then delete the folder `tables`"):
        lake.apply_messages(spark, format=FORMAT)
    cws.rebuild(spark, log, target=lake.places["target"])
    shutil.rmtree(progress)
    lake.send_records(records(message("INSERT", 1, {"id": 3}), start=3))
    lake.apply_messages(spark, format=FORMAT)
    assert lake.table(spark, "t").count() == 4


def test_a_log_must_exist(spark: SparkSession, tmp_path: Path) -> None:
    """A sentence says that it does not, and none is made."""
    lake = Lake(tmp_path)
    with pytest.raises(cws.OutputError, match="the log does not exist"):
        apply_log(spark, lake, lake.places["log"])
    assert not Path(lake.places["log"]).exists()


def test_what_is_stopped_early_is_not_active(spark: SparkSession, tmp_path: Path) -> None:
    """The second query is not started then; the next start goes on."""
    lake = Lake(tmp_path)
    lake.send_records(records(message("INSERT", 1, {"id": 1})))
    given: dict[str, Any] = {"row_schema": "json", "trigger": AVAILABLE_NOW, **lake.places}
    query = cws.apply_changes(lake.read(spark), format=FORMAT, **given)
    assert query.isActive
    query.stop()
    assert (query.isActive, query.apply) == (False, None)
    lake.apply_messages(spark, format=FORMAT)
    assert lake.table(spark, "t").count() == 1


def test_both_queries_run_side_by_side(spark: SparkSession, tmp_path: Path) -> None:
    """Without a trigger that ends, tables follow the log while messages land."""
    lake = Lake(tmp_path)
    lake.send_records(records(message("INSERT", 1, {"id": 1})))
    seldom = {"apply_trigger": {"processingTime": "1 second"}}
    given: dict[str, Any] = {"row_schema": "json", **seldom, **lake.places}
    query = cws.apply_changes(lake.read(spark), format=FORMAT, **given)
    try:
        for number in (2, 3):
            query.processAllAvailable()
            lake.send_records(records(message("INSERT", 1, {"id": number}), start=number))
        query.processAllAvailable()
        assert lake.table(spark, "t").count() == 3
        assert query.isActive
        assert query.exception() is None
        assert not query.awaitTermination(1)
    finally:
        query.stop()
    assert not query.isActive
