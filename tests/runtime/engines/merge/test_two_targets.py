"""Two targets of one log in Spark: what one of them refuses is in the tables of the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.engines.merge.lake import Lake, lake_in, one_by_one
from tests.runtime.engines.merge_local.lake import Lake as LocalLake
from tests.runtime.engines.two_targets import DELETED, EXPECTED, FIRST, LATE, TYPES

import changewire.spark as cws
from changewire.engines.options import AVAILABLE_NOW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "dataworks-json"


def named(lake: Lake, name: str) -> Lake:
    """Return a lake for other tables of the same log, with a checkpoint of their own."""
    folder = lake.tables.with_name(f"{lake.tables.name}_{name}")
    namespace = lake.namespace and f"{lake.namespace}_{name}"
    return replace(lake, root=lake.root / name, folder=folder, namespace=namespace)


def tables(lake: Lake) -> dict[str, Any]:
    """Return target and table format, as queries on a log take them."""
    return {name: lake.places[name] for name in ("target", "table_format")}


def apply_log(spark: SparkSession, lake: Lake, log: str, **options: Any) -> None:
    """Apply a log to the tables of a lake, to its end."""
    at = {**tables(lake), "checkpoint": lake.places["checkpoint"], "trigger": AVAILABLE_NOW}
    cws.await_termination(cws.apply_log(spark, log, **at, **options))


def rows(spark: SparkSession, lake: Lake) -> list[tuple[Any, ...]]:
    """Return the rows of the table of a target."""
    return sorted((row["id"], row["price"]) for row in lake.rows(spark, "t"))


@pytest.mark.parametrize(
    ("table_format", "names"),
    [
        ("delta", ("numbers", "texts")),
        pytest.param("iceberg", ("texts", "numbers"), marks=pytest.mark.long),
    ],
)
def test_a_refusal_is_of_one_target(
    spark: SparkSession, tmp_path: Path, table_format: str, names: tuple[str, str]
) -> None:
    """A late write sees a move that its target took, and none that it refused."""
    lake = lake_in(table_format, spark, tmp_path)
    other, log = named(lake, "other"), lake.places["log"]
    first, second = names
    lake.send_records(FIRST)
    lake.send_records(LATE)
    with one_by_one(table_format):
        lake.apply_messages(spark, format=FORMAT, row_schema=TYPES[first])
        apply_log(spark, other, log, row_schema=TYPES[second])
    lakes = {first: lake, second: other}
    for name, one in lakes.items():
        assert rows(spark, one) == EXPECTED[name]
        assert one.faults(spark, log=log) == []
    assert not cws.verify(spark, log, **tables(lakes["texts"])).count()
    numbers = tables(lakes["numbers"])
    cws.rebuild(spark, log, **numbers)
    assert rows(spark, lakes["numbers"]) == EXPECTED["numbers"]
    found = cws.refused(spark, log, table_format=table_format).orderBy("offset")
    expected = [(offset, numbers["target"]) for offset in (1, 2)]
    assert [tuple(one) for one in found.select("offset", "target").collect()] == expected
    assert not cws.unapplied(spark, log, **tables(lakes["texts"])).count()
    assert [one["refused"] for one in cws.unapplied(spark, log, **numbers).collect()] == [2]
    at = {**tables(lakes["texts"]), "checkpoint": lakes["texts"].places["checkpoint"]}
    done = cws.replay(spark, log, format=FORMAT, row_schema=TYPES["texts"], **at)
    assert (done.refused, done.closed, done.left) == (0, 0, 0)


@pytest.mark.long
def test_a_replay_is_of_one_target(spark: SparkSession, tmp_path: Path) -> None:
    """It tries what its target refused; the other target takes the new attempts once more."""
    lake = Lake(tmp_path)
    other, log = named(lake, "other"), lake.places["log"]
    lake.send_records(DELETED)
    lake.apply_messages(spark, format=FORMAT)
    apply_log(spark, other, log, row_schema="json", max_new_tables=0)
    lake.send_records(LATE)
    lake.apply_messages(spark, format=FORMAT)
    assert cws.rebuild(spark, log, **tables(lake)) == [f"{lake.tables}/t"]
    for one, refused in ((lake, 0), (other, len(DELETED))):
        at = {**tables(one), "checkpoint": one.places["checkpoint"]}
        assert not cws.verify(spark, log, **at).count()
        done = cws.replay(spark, log, format=FORMAT, row_schema="json", **at)
        assert (done.refused, done.closed, done.left) == (refused, refused, 0)
    assert cws.refused(spark, log).isEmpty()
    for one in (lake, other):
        apply_log(spark, one, log, row_schema="json")
        assert one.table(spark, "t").isEmpty()
        assert one.faults(spark, log=log) == []


@pytest.fixture
def older(tmp_path: Path) -> Lake:
    """A lake of which there is a log alone, whose refusals name no target."""
    made, lake = LocalLake(tmp_path / "new"), Lake(tmp_path / "old")
    made.apply_records([*FIRST, (b"{", "topic", 0, 5)], row_schema=TYPES["numbers"])
    log = DeltaTable(made.places["log"]).to_pyarrow_table()
    write_deltalake(lake.places["log"], log.drop_columns(["target"]))
    return lake


def test_refusals_of_an_earlier_version_are_of_any_target(spark: SparkSession, older: Lake) -> None:
    """A log without the column is read, and gets it when a query starts."""
    log = older.places["log"]
    found = cws.refused(spark, log).orderBy("offset").select("offset", "target")
    assert [tuple(one) for one in found.collect()] == [(1, None), (2, None)]
    (fault,) = older.faults(spark)
    assert (fault["fault"], fault["offset"]) == ("missing", 0)
    older.send_records(LATE)
    older.apply_messages(spark, format=FORMAT, row_schema=TYPES["numbers"])
    assert rows(spark, older) == EXPECTED["numbers"]
    assert older.faults(spark) == []
    at = {**tables(older), "checkpoint": older.places["checkpoint"]}
    done = cws.replay(spark, log, format=FORMAT, row_schema=TYPES["numbers"], **at)
    assert (done.dead_letters, done.refused, done.closed, done.left) == (1, 2, 0, 3)


@pytest.mark.long
def test_whatever_appends_to_an_older_log_adds_the_column(spark: SparkSession, older: Lake) -> None:
    """A replay does, and so does what closes dead letters."""
    log, names = older.places["log"], {"target"}
    at = {**tables(older), "checkpoint": older.places["checkpoint"]}
    copy = f"{log}-copy"
    write_deltalake(copy, DeltaTable(log).to_pyarrow_table())
    assert cws.close_dead_letters(spark, copy, where="true", by="ann", why="sent again") == 1
    done = cws.replay(spark, log, format=FORMAT, **at)
    assert (done.refused, done.closed, done.left) == (2, 2, 1)
    for one in (log, copy):
        assert names <= {field.name for field in DeltaTable(one).schema().fields}
    assert cws.refused(spark, log).isEmpty()
