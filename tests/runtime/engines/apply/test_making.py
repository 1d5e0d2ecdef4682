"""Tables of Delta that are made: what they are made of, and what was in their folder before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from changewire.engines.kept import KEYS, TRUNCATED
from changewire.engines.spark.apply.delta import Delta
from changewire.engines.spark.apply.properties import keys_of, keys_text, set_properties
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.tables import SparkTables, make, tables_of, versions
from changewire_messages.tables.spark import TOMBSTONE as TOMBSTONES

COMMENT = "It's \\ an `id`."
COLUMNS = StructType(
    [
        StructField("id", LongType(), metadata={"comment": COMMENT, "rank": 3}),
        StructField("any", StringType(), metadata={"contentMediaType": "application/json"}),
    ]
)


def _empty(folder: Path) -> None:
    folder.mkdir()


def _without_commit(folder: Path) -> None:
    (folder / "_delta_log").mkdir(parents=True)


def _with_file(folder: Path) -> None:
    folder.mkdir()
    (folder / "part-00000-of-no-commit.snappy.parquet").write_bytes(b"PAR1")


@pytest.mark.parametrize("before", [None, _empty, _without_commit, _with_file])
@pytest.mark.parametrize("name", ["t", "t `1`; --'"])
def test_a_table_is_made_once(
    spark: SparkSession, tmp_path: Path, name: str, before: Callable[[Path], None] | None
) -> None:
    """Whatever its folder has before, a table has its columns with all that is known of them."""
    folder = tmp_path / name
    if before is not None:
        before(folder)
    is_made = Delta().create(spark, str(folder), COLUMNS, {})
    assert is_made == (before in {None, _empty} and "`" not in name)
    assert spark.read.format("delta").load(str(folder)).schema == COLUMNS
    assert DeltaTable(folder).version() == 0
    assert not Delta().create(spark, str(folder), COLUMNS, {})
    assert DeltaTable(folder).version() == 0


def test_properties_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    """A table is made with properties by one commit, which adds no file."""
    folder, given = tmp_path / "t", {"changewire.keys": "WyJpZCJd"}
    assert Delta().create(spark, str(folder), COLUMNS, given)
    table = DeltaTable(folder)
    assert (table.version(), table.metadata().configuration) == (0, given)
    assert not table.file_uris()
    assert [one.name for one in folder.glob("*.parquet")] == []


def test_names_that_parquet_refuses(spark: SparkSession, tmp_path: Path) -> None:
    """A table whose columns have such names maps them, and keeps what is known of them."""
    columns = StructType([StructField("a b;", LongType(), metadata={"comment": COMMENT})])
    assert Delta().create(spark, str(tmp_path / "t"), columns, {})
    assert spark.read.format("delta").load(str(tmp_path / "t")).schema == columns


def _tables(folder: Path) -> SparkTables:
    return tables_of(f"{folder}/t", JsonShape(), Delta(), has_changed=False)


def test_tables_are_untouched_until_another_writer_commits(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A commit to either shows, as the key is kept by the one that makes tombstones."""
    tables = _tables(tmp_path)
    assert make(spark, tables)
    assert tables.are_untouched(versions(spark, tables))
    set_properties(spark, tables.tombstones, {TRUNCATED: "by another writer"})
    assert not tables.are_untouched(versions(spark, tables))
    assert not make(spark, tables)


def test_a_new_table_has_its_own_key(spark: SparkSession, tmp_path: Path) -> None:
    """A table of tombstones that was left alone keeps the key of the table that comes to be."""
    tables = _tables(tmp_path)
    other = {KEYS: keys_text(["other"])}
    assert Delta().create(spark, f"{tmp_path}/t__tombstones", TOMBSTONES, other)
    assert not make(spark, tables)
    assert keys_of(spark, tables.tombstones) == JsonShape().keys
    assert not make(spark, tables)
    assert DeltaTable(f"{tmp_path}/t__tombstones").version() == 1
