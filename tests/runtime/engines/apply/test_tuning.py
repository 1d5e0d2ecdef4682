"""Batches have no more partitions than they need, and the stream keeps those that it had."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from deltalake import DeltaTable
from tests.runtime.engines.apply.lake import Lake, lake_in
from tests.runtime.engines.apply.ways import DRIVER, REPORTED, TASKS, decided
from tests.runtime.tables.histories import change, placed
from tests.runtime.tables.model import tables_of

from changewire.engines.spark.apply import merge, reported, tuning
from changewire.engines.spark.apply.formats import format_of
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.tables import tables_of as spark_tables
from changewire.engines.spark.apply.tuning import (
    INTERPRETED,
    are_small,
    batch_settings,
    limit_partitions,
    side_by_side,
)
from changewire.engines.spark.apply.writing import write_rows
from changewire.engines.spark.session import ADAPTIVE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from changewire.engines.spark.apply.tables import SparkTables

MANY = 60
COMPILED = "spark.sql.codegen.wholeStage"


@pytest.fixture
def session(spark: SparkSession) -> Generator[SparkSession, None, None]:
    """Return the session while it has many partitions, and compiles as Spark does."""
    was = str(spark.conf.get(tuning.SHUFFLE))
    spark.conf.set(tuning.SHUFFLE, str(MANY))
    for name in INTERPRETED:
        spark.conf.unset(name)
    yield spark
    spark.conf.set(tuning.SHUFFLE, was)
    for name, value in INTERPRETED.items():
        spark.conf.set(name, value)


@pytest.mark.parametrize("way", [DRIVER, TASKS, REPORTED])
def test_tables_have_few_files(
    session: SparkSession, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file for each partition of a shuffle would be as many for some rows."""
    monkeypatch.setattr(reported, "FEW", 0)
    lake = Lake(tmp_path, log="parquet")
    keys = range(3 * MANY)
    batches = [
        placed(*(change(key=key, sequence=n, a=n) for key in keys), start=1000 * n)
        for n in range(1, 4)
    ]
    for batch in batches:
        lake.send(batch)
    with decided(way):
        lake.apply(session)
    cores = session.sparkContext.defaultParallelism
    assert len(DeltaTable(str(lake.folder / "t")).file_uris()) <= cores
    assert lake.content(session) == tables_of([one for batch in batches for one in batch])
    offsets = (lake.root / "checkpoint" / "offsets" / "2").read_text(encoding="utf-8")
    assert json.loads(offsets.splitlines()[1])["conf"][tuning.SHUFFLE] == str(MANY)
    assert session.conf.get(tuning.SHUFFLE) == str(MANY)


@pytest.mark.parametrize("sink", ["delta", "iceberg"])
def test_large_tables_have_more_partitions(
    session: SparkSession, tmp_path: Path, sink: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have one for so many bytes of the files, and no more than the session."""
    lake = lake_in(sink, session, tmp_path, log="parquet")
    lake.send(placed(change(key=1, a=1)))
    name = lake.template.format(table="t")
    tables = spark_tables(name, JsonShape(), format_of(sink), has_changed=False)
    assert tables.sizes(session) == [0, 0]
    lake.apply(session)
    size, tombstones = tables.sizes(session)
    assert tombstones == 0
    assert size is not None
    assert size > 100
    cores = session.sparkContext.defaultParallelism
    for of_a_partition, expected in ((size, cores), (size // 9, size // (size // 9)), (1, MANY)):
        monkeypatch.setattr(tuning, "_BYTES", of_a_partition)
        with batch_settings(session):
            limit_partitions(session, 0, [tables])
            assert session.conf.get(tuning.SHUFFLE) == str(expected)
        assert session.conf.get(tuning.SHUFFLE) == str(MANY)


def test_a_table_of_unknown_size_leaves_them_as_they_are(session: SparkSession) -> None:
    """So does a table that Spark knows, and whose log has no checksum."""

    class Unknown:
        def sizes(self, spark: SparkSession) -> list[int | None]:
            del spark
            return [0, None]

    tables: Any = Unknown()
    with batch_settings(session):
        limit_partitions(session, 0, [tables])
        assert session.conf.get(tuning.SHUFFLE) == str(MANY)
        assert not are_small(session, [tables])


@pytest.mark.parametrize(
    ("way", "most", "expected"),
    [(DRIVER, 2**18, "false"), (DRIVER, 100, None), (TASKS, 2**18, None)],
)
def test_few_changes_into_small_tables_are_interpreted(
    session: SparkSession, tmp_path: Path, way: str, most: int, expected: str | None
) -> None:
    """Plans are compiled that read larger tables, or have more changes."""
    lake, found = Lake(tmp_path, log="parquet"), []

    def noted(changed: DataFrame, tables: SparkTables, **options: Any) -> int | None:
        found.append(changed.sparkSession.conf.get(COMPILED, None))
        return write_rows(changed, tables, **options)

    lake.send(placed(change(key=1, a=1)))
    lake.apply(session)
    lake.send(placed(change(key=1, sequence=2, a=2), start=10))
    with (
        patch.object(tuning, "_FEW_BYTES", most),
        patch.object(merge, "write_rows", noted),
        decided(way),
    ):
        lake.apply(session)
    assert found == [expected]


def test_a_session_gets_its_settings_back(session: SparkSession) -> None:
    """A replay uses that of the user; a setting that was not set is not set again."""
    names = [*tuning.SETTINGS, tuning.SNAPSHOT, ADAPTIVE, tuning.SHUFFLE]
    before = {name: session.conf.get(name, None) for name in names}
    session.conf.unset(tuning.SNAPSHOT)
    with batch_settings(session):
        tuning.set_adaptive(session, 1_000_000)
        limit_partitions(session, 0, [])
        assert session.conf.get(tuning.SNAPSHOT) == "8"
        assert session.conf.get("spark.databricks.delta.merge.materializeSource") == "none"
        assert session.conf.get(tuning.SHUFFLE) != str(MANY)
    assert session.conf.get(tuning.SNAPSHOT, None) is None
    session.conf.set(tuning.SNAPSHOT, str(before[tuning.SNAPSHOT]))
    assert {name: session.conf.get(name, None) for name in names} == before


def test_what_one_table_raises_is_raised_once_all_are_done(spark: SparkSession) -> None:
    """So no table is written to once its batch has ended."""
    done: list[int] = []
    actions: list[Callable[[], object]] = [
        lambda: 1 // 0,
        lambda: done.append(1),
        lambda: done.append(2),
    ]
    with pytest.raises(ZeroDivisionError):
        side_by_side(spark, actions)
    assert sorted(done) == [1, 2]
