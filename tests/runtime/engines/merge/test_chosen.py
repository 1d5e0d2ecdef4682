"""Some tables of the source alone, in Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from tests.runtime.engines.chosen import KEYS, ONLY, UNMATCHED, first, keyless, later
from tests.runtime.engines.merge.lake import Lake, one_by_one
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.tables.histories import change, placed

import changewire.arrow as cwa
from changewire.engines.spark.merge.rebuild import rebuild
from changewire.engines.spark.merge.verify import verify
from changewire.engines.spark.parts import has_name
from changewire.tables import Chosen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "dataworks-json"


def ids(lake: Lake, spark: SparkSession, table: str) -> list[int]:
    """Return the keys of the rows of a table."""
    return sorted(row["id"] for row in lake.content(spark)[table].values())


def test_tables_are_made_of_chosen_sources_alone(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has all messages; what is left out is counted, and does not count as lost."""
    lake = Lake(tmp_path)
    lake.send_records(records(*first()))
    assert lake.apply_messages(spark, format=FORMAT, **ONLY) == [{"inserted": 4, "left_out": 6}]
    assert lake.names() == ["t", "u"]
    log, at = lake.places["log"], {"target": lake.places["target"]}
    kinds = DeltaTable(log).to_pyarrow_table()["kind"].to_pylist()
    assert Counter(kinds) == {"change": 10, "control": 2}
    assert not verify(spark, log, **at, **ONLY).count()
    assert [one.name for one in caplog.records] == ["changewire.verify"] * len(UNMATCHED)
    assert len(lake.faults(spark, except_tables=["d.t", "d.u"])) == 3
    left = [{"table": "d.v", "refused": 0, "key_missing": 1}]
    assert cwa.unapplied(log).to_pylist() == left
    assert not len(cwa.unapplied(log, **ONLY))
    lake.send_records(records(*later(), start=50))
    counts = lake.apply_messages(spark, format=FORMAT, except_tables=["d.u*"])
    assert counts == [{"inserted": 1, "updated": 1}]
    assert (lake.names(), ids(lake, spark, "v")) == (["t", "u", "v"], [3])
    rebuild(spark, log, **at, tables=["d.v"], except_tables=["d.u_1"])
    assert ids(lake, spark, "v") == [1, 3]


def test_late_deletes_of_a_table_that_is_left_out(spark: SparkSession, tmp_path: Path) -> None:
    """They hold back no row of a table that several sources would feed."""
    lake = Lake(tmp_path)
    target = f"{lake.tables}/one"
    sent = [message("DELETE", 9, {"id": 1}, table="u"), message("INSERT", 1, {"id": 2})]
    options: dict[str, Any] = {"one_table": True, "only_tables": ["d.t"]}
    lake.send_records(records(*sent))
    lake.send_records(records(message("INSERT", 2, {"id": 1}), start=10))
    with one_by_one("delta"):
        lake.apply_messages(spark, format=FORMAT, **{**options, "target": target})
    assert ids(lake, spark, "one") == [1, 2]
    log = lake.places["log"]
    assert not verify(spark, log, target=target, **options).count()
    assert len(lake.faults(spark, target=target, one_table=True)) == 1


@pytest.mark.long
def test_a_delete_without_table_goes_to_chosen_tables(spark: SparkSession, tmp_path: Path) -> None:
    """It removes their rows, late ones too, and brings no other table."""
    lake = Lake(tmp_path)
    lake.send(placed(*(change(table=name, key=key) for name in ("t", "u") for key in (1, 2))))
    lake.send(placed(change("delete", sequence=5, table=None), start=10))
    lake.send(placed(change(sequence=4), start=20))
    lake.apply(spark, only_tables=["d.t"])
    assert (lake.names(), ids(lake, spark, "t")) == (["t"], [2])


def test_keys_are_asked_of_chosen_tables(spark: SparkSession, tmp_path: Path) -> None:
    """A log whose first changes have no key, but are of other tables, is not refused."""
    lake = Lake(tmp_path, lands_in_spark=True)
    lake.send_records(records(message("INSERT", 1, {"name": "a"}, table="v", key=())))
    counts = lake.apply_messages(spark, format=FORMAT, only_tables=["d.t"])
    assert counts == [{"left_out": 1}]
    assert not lake.names()


@pytest.mark.long
def test_keys_by_table(spark: SparkSession, tmp_path: Path) -> None:
    """Each table has its own; other columns are refused, as before."""
    lake = Lake(tmp_path)
    lake.send_records(records(*keyless()))
    options: dict[str, Any] = {"format": FORMAT, "row_schema": "embedded"}
    assert lake.apply_messages(spark, key_columns=KEYS, **options) == [{"inserted": 2}]
    for table, name in (("t", "b"), ("u", "a")):
        assert [row[:2] for row in lake.table(spark, table).select("id", "name").collect()] == [
            (1, name)
        ]
    more = message("INSERT", 5, {"id": 5, "name": "e"}, table="u", key=())
    lake.send_records(records(more, start=20))
    counts = lake.apply_messages(spark, key_columns={"*": ["id"]}, **options)
    assert counts == [{"refused": 1}]
    assert [row["code"] for row in lake.log(spark).where("kind = 'refused'").collect()] == [
        "key-mismatch"
    ]


@pytest.mark.parametrize("glob", ["d.t", "d.?", "*", "d.t_*", "d.%", r"d.\*", "D.t", "?.[t]"])
def test_spark_takes_globs_as_python_does(spark: SparkSession, glob: str) -> None:
    """Also those with signs that LIKE knows."""
    names = ["d.t", "D.t", "d.t_1", "d.tx1", "d.%", r"d.\x", "d.a\nb", "d.[t]", "d.\U0001f600"]
    rows = spark.createDataFrame([(name,) for name in names], "name string")
    for chosen in (Chosen((glob,)), Chosen((), (glob,)), Chosen(("d.*",), (glob,))):
        found = rows.where(has_name(F.col("name"), chosen)).collect()
        assert [row["name"] for row in found] == [*filter(chosen.has, names)]
