"""Tables that are merged at once do not see each other, and the first error ends all of them."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from tests.runtime.engines.merge.lake import Lake, lake_in
from tests.runtime.engines.merge.messages import message, records

import changewire.spark as cws
from changewire.engines.errors import OutputError
from changewire.engines.spark.merge.table import SparkTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from changewire.engines.by_table import MergedRows

NAMES = ("t_1", "t1")
"""Alike names, of tables that are merged at once."""

OF_FORMATS = (
    "spark.databricks.delta.lastCommitVersionInSession",
    "spark.sql.catalog.default_",
    "spark.sql.parquet.fieldId.",
)
"""How settings begin that Delta and Iceberg give a session by themselves."""

KEPT_LONG = 10**13
"""Rows of a job that does not end unless it is cancelled."""


def sent(names: list[str], first: int) -> list[tuple[Any, ...]]:
    """Return records of some tables: a new row, a late one, a delete, and a row of the table."""
    found = []
    for name in names:
        row = {"id": first, "name": f"{name}-{first}", "price": 1.5}
        found += [
            message("INSERT", first + 5, row, table=name),
            message("UPDATE_AFTER", first + 3, {**row, "name": "late"}, table=name),
            message("INSERT", first + 5, {"id": -first, "name": name}, table=name),
            message("DELETE", first + 6, {"id": -first}, table=name),
        ]
    return records(*found, start=1000 * first)


def rows_of(lake: Lake, spark: SparkSession, name: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table, by their id."""
    return sorted((row["id"], row["name"], row["price"]) for row in lake.rows(spark, name))


def expected(name: str, *firsts: int) -> list[tuple[Any, ...]]:
    """Return the rows that `sent` leaves in a table."""
    return [(first, f"{name}-{first}", 1.5) for first in firsts]


def settings(spark: SparkSession) -> dict[str, str]:
    """Return the settings of a session, without those of the table formats."""
    found = spark.conf.getAll.items()
    return {name: value for name, value in found if not name.startswith(OF_FORMATS)}


def shared_views(spark: SparkSession) -> list[Any]:
    """Return the views that all sessions share."""
    return spark.sql("SHOW VIEWS IN global_temp").where("namespace = 'global_temp'").collect()


def check(spark: SparkSession, lake: Lake, names: list[str], threads: int) -> None:
    """Merge two batches into tables at once; one of Delta refuses a row by its constraint."""
    options: dict[str, Any] = {
        "format": "dataworks-json",
        "row_schema": "auto",
        "row_image": {f"d.{name}": "patch" for name in names[::3]},
        "merge_threads": threads,
    }
    before = settings(spark)
    lake.send_records(sent(names, 1))
    lake.apply_messages(spark, **options)
    if lake.table_format == "delta":
        place = lake.places["target"].format(table=names[1])
        spark.sql(f"ALTER TABLE delta.`{place}` ADD CONSTRAINT c CHECK (100 / id > 20 OR id < 4)")
    lake.send_records([*sent(names, 2), *sent(names[1:2], 9)])
    lake.apply_messages(spark, **options)
    for name in names:
        is_allowed = name == names[1] and lake.table_format != "delta"
        assert rows_of(lake, spark, name) == expected(name, 1, 2, *([9] if is_allowed else []))
    assert lake.faults(spark) == []
    assert settings(spark) == before
    assert shared_views(spark) == []


@pytest.mark.parametrize("table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.long)])
def test_tables_of_alike_names(spark: SparkSession, tmp_path: Path, table_format: str) -> None:
    """Each has its own rows, settings and views."""
    check(spark, lake_in(table_format, spark, tmp_path), [*NAMES], 8)


@pytest.mark.long
def test_many_tables_and_threads(spark: SparkSession, tmp_path: Path) -> None:
    """The same with 16 threads and 64 tables."""
    check(spark, Lake(tmp_path), [f"t_{number}" for number in range(64)], 16)


def test_the_first_error_ends_all(spark: SparkSession, tmp_path: Path) -> None:
    """It is raised, other jobs are cancelled, and the batch is merged whole when it is retried."""
    lake, names, merged, begun = Lake(tmp_path), ["t", "u", "v"], Event(), Event()
    options: dict[str, Any] = {"format": "dataworks-json", "row_schema": "auto", "merge_threads": 2}
    merge = SparkTable.merge

    def failing(table: SparkTable, rows: DataFrame, *args: Any, **given: Any) -> MergedRows:
        name = Path(table.target).name
        if name == "t":
            done = merge(table, rows, *args, **given)
            merged.set()
            assert begun.wait(60)
            return done
        if name == "u":
            assert merged.wait(60)  # its job takes the only core
            begun.set()
            rows.sparkSession.range(KEPT_LONG).selectExpr("sum(id % 7)").collect()
        raise OutputError(f"{name}: the disk is full")

    lake.send_records(sent(names, 1))
    with patch.object(SparkTable, "merge", failing), pytest.raises(Exception, match="disk is full"):
        lake.apply_messages(spark, **options)
    assert shared_views(spark) == []
    assert rows_of(lake, spark, "t") == expected("t", 1)
    assert rows_of(lake, spark, "u") == []
    lake.apply_messages(spark, **options)
    assert [rows_of(lake, spark, name) for name in names] == [expected(n, 1) for n in names]


def test_threads_are_one_or_more(tmp_path: Path) -> None:
    """Another number is refused."""
    with pytest.raises(ValueError, match="merge_threads is 1 or more, not 0"):
        cws.apply_log(
            None,  # type: ignore[arg-type]
            "log/x",
            target=f"{tmp_path}/{{table}}",
            checkpoint=str(tmp_path),
            merge_threads=0,
        )
