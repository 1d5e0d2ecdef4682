"""Tables of versions beside tables: those of all changes at once, whatever came how and when."""

from __future__ import annotations

import random
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql.types import DecimalType, LongType, StringType, StructField, StructType
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.apply.lake import lake_in as lake_of
from tests.runtime.engines.apply.test_typed_tables import HOSTILE, landed, message
from tests.runtime.engines.apply.ways import DRIVER, TASKS, decided
from tests.runtime.engines.version_rows import declared, typed_versions_in, versions_in
from tests.runtime.tables.histories import (
    change,
    drawn,
    in_tables,
    of_history,
    placed,
    truncate,
)
from tests.runtime.tables.model import tables_of, versions_of

import changewire.arrow as cwa
import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.errors import OutputError
from changewire.engines.options import TableOptions
from changewire.engines.spark.apply.delta import Delta
from changewire.engines.spark.apply.history import few
from changewire.engines.spark.apply.history.merge import HistoryMerge
from changewire.engines.spark.apply.history.tables import HistoryTables, history_tables
from changewire.engines.spark.apply.options import apply_options_of
from changewire.engines.spark.apply.typed_shape import TypedShape
from changewire.tables import PositionedChange, planner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORIES, MANY_HISTORIES, BATCHES = 12, 300, 3
IMAGES = ("full", "full", "patch", "keys")
TYPED = (
    StructType().add("id", StringType()).add("a", DecimalType(38, 6)).add("b", DecimalType(38, 6))
)
ONE_TABLE = {"u": "t"}
"""Table of drawn histories, by what theirs is called: a second one takes as long as the first."""


def lake_in(folder: Path, *, applies_truncates: bool = False) -> Lake:
    """Return a lake with tables of versions, whose log is Parquet."""
    history = f"{folder}/tables/{{table}}__history"
    return Lake(folder, applies_truncates=applies_truncates, log="parquet", history=history)


def cut(number: int, batches: int, images: Sequence[str] = IMAGES) -> list[list[PositionedChange]]:
    """Draw histories, each with keys and positions of its own, in so many batches."""
    found: list[list[PositionedChange]] = [[] for _ in range(batches)]
    for which, delivery in enumerate(drawn(number, images)):
        for i, batch in enumerate(delivery):
            own = (of_history(which, placed) for placed in in_tables(batch, ONE_TABLE, which))
            found[i % batches] += own
    return found


def with_truncates(batches: list[list[PositionedChange]], partition: int) -> None:
    """Add a truncate to each batch, of which some come late."""
    majors = random.sample(range(1, 30), len(batches))
    for batch, major in zip(batches, majors, strict=True):
        batch.extend(placed(truncate(major), start=major, partition=partition))


class KilledError(Exception):
    """The process ended."""


KILLS: dict[str, tuple[str, Any, str, int]] = {
    "a new table is not marked as complete": (DRIVER, HistoryTables, "complete", 1),
    # The first batch is retried, and merges nothing a second time.
    "deletes are written, versions are not": (DRIVER, HistoryMerge, "_merge", 1),
    "versions are written, tables are not": (TASKS, planner, "write", 2),
}
"""Where the versions of a batch are made, and where the process ends in which call, one place a
batch."""


@contextmanager
def killed(owner: Any, name: str, at: int = 1) -> Generator[None, None, None]:
    """Let the process end where a function is called for the first time, or for a later one."""
    function, calls = getattr(owner, name), count(1)

    def ends(*arguments: Any, **options: Any) -> Any:
        if next(calls) == at:
            raise KilledError("killed")
        return function(*arguments, **options)

    with patch.object(owner, name, ends), pytest.raises(StreamingQueryException, match="killed"):
        yield


@pytest.mark.parametrize(
    "histories", [HISTORIES, pytest.param(MANY_HISTORIES, marks=pytest.mark.long)]
)
def test_batches_are_all_changes_at_once(
    spark: SparkSession, tmp_path: Path, histories: int
) -> None:
    """Late, doubled and deleted changes, patches, moved keys and truncates; and so says the log.

    The process ends at the worst places, and batches are read again.
    """
    lake = lake_in(tmp_path, applies_truncates=True)
    batches = cut(histories, BATCHES)
    with_truncates(batches, histories)
    before = change("update", "half", (50, 0), before={"id": "half"}, is_lone=True)
    batches[0] += placed(change(key="half", a="1.10"), before, partition=histories + 1)
    after = change("update", "half", 50, a="1.20")
    batches[1] += placed(after, start=9, partition=histories + 1)
    for batch in batches:
        lake.send(batch)
    for way, owner, name, at in KILLS.values():
        with decided(way), killed(owner, name, at):
            lake.apply(spark)
    with decided(TASKS):
        lake.apply(spark)
    sent = [*chain.from_iterable(batches)]
    assert lake.versions("t") == versions_of(sent)
    log = cwa.history(tmp_path / "changes", table="d.t", controls=tmp_path / "controls")
    assert lake.versions("t") == versions_in(log.to_pylist(maps_as_pydicts="strict"))
    assert lake.content(spark) == tables_of(sent, truncates=True)


def test_batches_of_whole_rows_as_columns_of_a_type(spark: SparkSession, tmp_path: Path) -> None:
    """Versions are those of all changes at once, as the type sees them; and so says the log."""
    lake = lake_in(tmp_path, applies_truncates=True)
    lake.given = TYPED
    batches = cut(HISTORIES, 2, ("full",))
    with_truncates(batches, HISTORIES)
    for batch in batches:
        lake.send(batch)
    lake.apply(spark)
    found = typed_versions_in(lake.history_rows("t"))
    assert found == versions_of(declared(chain.from_iterable(batches), ["a", "b"]))
    log = cwa.history(
        tmp_path / "changes", table="d.t", controls=tmp_path / "controls", rows=TYPED, keys=["id"]
    )
    assert found == typed_versions_in(log.to_pylist(maps_as_pydicts="strict"))


def test_a_row_with_more_versions_than_the_driver_holds(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Tasks make them then; and the counts of a batch say what became of versions."""
    lake = lake_in(tmp_path)
    batches = [
        placed(change(sequence=1, a=1), change(sequence=4, a=4), change("delete", 2, 9)),
        placed(change(sequence=6, a=6), change(key=2, sequence=8, a=1), start=10),
        placed(change("delete", 1, 5), change(sequence=4, a=4), start=20),
    ]
    for batch in batches:
        lake.send(batch)
    lines: list[str] = []
    with patch.object(few, "MOST", 1):
        lake.apply(spark, metrics=lines.append)
    assert lake.versions("t") == versions_of(chain.from_iterable(batches))
    assert [msgspec.json.decode(line)["history"] for line in lines] == [
        {"begun": 2},
        {"begun": 2, "ended": 1},
        {"split": 1},
    ]


def test_truncates_end_all_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Also those that come later and are older; what comes again is not written again.

    The process ends after the truncate was kept, and before the versions were written.
    """
    lake = lake_in(tmp_path, applies_truncates=True)
    first = placed(change(a=1), change(key=2, sequence=3, a="1.10"), change(key=3, sequence=9))
    second = placed(truncate(5), change(key=4, sequence=6, a=1), start=10)
    late = placed(change(key=5, sequence=2, a=None), change(sequence=7, a=1), start=20)
    lake.send(first)
    lake.send(second)
    with killed(HistoryMerge, "_merge", at=2):
        lake.apply(spark)
    lake.send(late)
    lake.apply(spark)
    expected = versions_of([*first, *second, *late])
    assert lake.versions("t") == expected
    before = DeltaTable(str(lake.folder / "t__history")).version()
    lake.send([*late, *first])
    lake.apply(spark)
    assert lake.versions("t") == expected
    assert DeltaTable(str(lake.folder / "t__history")).version() == before


@pytest.mark.parametrize("sink", ["delta", pytest.param("iceberg", marks=pytest.mark.matrix)])
def test_columns_of_a_type(spark: SparkSession, tmp_path: Path, sink: str) -> None:
    """Columns that come later are added; rows that have one of the versions' are refused."""
    lake = lake_of(sink, spark, tmp_path)
    first, later = {"id": "LONG", "price": "DOUBLE"}, {"id": "LONG", HOSTILE: "STRING"}
    batches = [
        [
            message("INSERT", 10, first, id=1, price="9.90"),
            message("UPDATE_AFTER", 12, first, id=1, price="9.95"),
            message("DELETE", 14, first, id=2, price=None),
        ],
        [
            message("UPDATE_AFTER", 11, later, id=1, **{HOSTILE: "late"}),
            message("INSERT", 13, {"id": "LONG", "Valid_From": "STRING"}, id=3, Valid_From="x"),
            message("INSERT", 13, later, id=2, **{HOSTILE: None}),
        ],
    ]
    history = lake.template.replace("{table}", "{table}__history")
    landed(spark, lake, *batches, format="dataworks-json", rows="embedded", history=history)
    folder = str(lake.folder / "t__history")
    found = spark.read.format(sink).load(folder).orderBy("id", "_changewire.sequence").collect()
    assert [(row["id"], row["price"], row[HOSTILE], row["is_current"]) for row in found] == [
        (1, 9.9, None, False),
        (1, None, "late", False),
        (1, 9.95, None, True),
        (2, None, None, False),
    ]
    assert [row["valid_to"] is None for row in found] == [False, False, True, False]
    letters = lake.outputs()["dead_letters"]
    refused = spark.table(letters) if sink == "iceberg" else spark.read.format(sink).load(letters)
    assert [(row["code"], row["offset"]) for row in refused.collect()] == [("schema-mismatch", 101)]


def test_a_table_that_is_not_there_is_made_of_the_log(spark: SparkSession, tmp_path: Path) -> None:
    """So the option may come later, and tables of versions may be dropped."""
    lake = lake_in(tmp_path)
    history, lake.history = lake.history, ""
    first = placed(change(a=1), change("delete", 2, 5, table=None), change("delete", 3, 5))
    lake.send(first)
    lake.apply(spark)
    lake.history = history
    second = placed(change(key=2, sequence=3, a=2), change(key=3, sequence=3, a=3), start=10)
    lake.send(second)
    lake.apply(spark)
    assert lake.versions("t") == versions_of([*first, *second])
    for name in ("t__history", "t__history__ends"):
        shutil.rmtree(lake.folder / name)
    third = placed(change(sequence=2, a=4), start=20)
    lake.send(third)
    lake.apply(spark)
    assert lake.versions("t") == versions_of([*first, *second, *third])


def write(lut: int, table: str | None, a: int) -> bytes:
    """Return a write of one record of Aerospike."""
    key = ["d", table, "AQIDBAUGBwgJCgsMDQ4PEBESExQ=", None]
    bins = [{"name": "a", "type": "int", "value": a}]
    message = {"msg": "write", "key": key, "gen": 1, "exp": 0, "lut": lut, "bins": bins}
    return msgspec.json.encode(message)


def kept(lake: Lake) -> list[tuple[int, bool]]:
    """Return the column of each version of this record, and whether it is current."""
    found = DeltaTable(str(lake.folder / "t__history")).to_pyarrow_table()
    rows = zip(found["row"].to_pylist(), found["is_current"].to_pylist(), strict=True)
    return sorted((msgspec.json.decode(row)["a"], is_current) for row, is_current in rows)


def test_a_run_that_would_leave_versions_without_changes(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It ends before it writes anything, and says what to do; a replay goes on by itself."""
    lake = lake_in(tmp_path)
    lake.log = ""
    options: dict[str, Any] = {"format": "aerospike-json"}
    landed(spark, lake, [write(2, "t", a=2), write(1, None, a=1)], history=lake.history, **options)
    with pytest.raises(StreamingQueryException) as caught:
        landed(spark, lake, [write(3, "t", a=3)], **options)
    assert f"history='{lake.history}'" in str(caught.value)
    assert f"drop {lake.folder}/t__history__ends" in str(caught.value)
    assert len(DeltaTable(str(tmp_path / "changes")).to_pyarrow_table()) == 1
    assert kept(lake) == [(2, True)]
    checkpoint, places = str(tmp_path / "checkpoint"), lake.outputs()
    where: dict[str, Any] = {"target": lake.template, "checkpoint": checkpoint, **places}
    assert cws.replay(spark, null_set="t", **where, **options).marked == 1
    assert kept(lake) == [(1, False), (2, True)]


def test_names_of_another_run(spark: SparkSession, tmp_path: Path) -> None:
    """Columns by which versions have other names are not added to a table of versions."""
    (tmp_path / "t").mkdir()
    columns = StructType([StructField("id", LongType())])
    first, other = (
        history_tables(spark, f"{tmp_path}/t", TypedShape(columns, ["id"]), Delta(), names)
        for names in ("plain", "auto_cdc")
    )
    first.make(spark)
    with pytest.raises(OutputError, match="no columns __START_AT, __END_AT, so it was made with"):
        other.make(spark)


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        ("/lake/{database}__history", "must have the fields of the target"),
        ("/lake/{table}", "different places"),
    ],
)
def test_where_versions_cannot_be(history: str, reason: str) -> None:
    """Each table has versions of its own, at a place of their own."""
    options = TableOptions("/lake/{table}", history=history)
    with pytest.raises(ValueError, match=reason):
        apply_options_of(DecodeOptions("aerospike-json"), options, "delta", "/checkpoint")


def test_names_that_are_not_there() -> None:
    """The error lists those that are."""
    options = TableOptions("/lake/{table}", history="/l/{table}", history_names="scd2")
    with pytest.raises(ValueError, match="there are: plain, auto_cdc"):
        apply_options_of(DecodeOptions("aerospike-json"), options, "delta", "/checkpoint")
