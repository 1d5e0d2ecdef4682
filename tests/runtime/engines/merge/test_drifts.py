"""Columns that come, go and change their types: no value of a row is lost in Spark either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.runtime.engines.auto_cases import comparable
from tests.runtime.engines.drifts import CASES, NAMES, ODD, SOURCES, cut, messages
from tests.runtime.engines.kept import DIGEST, lost, rows_of
from tests.runtime.engines.merge.lake import Lake, lake_in, one_by_one
from tests.runtime.engines.merge.messages import message, records

from changewire.engines.applied import property_value
from changewire.engines.typed.own import ROWS
from changewire.tables.row_state import COLUMN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW = [
    ("delta", "patches"),
    ("iceberg", "flat"),
    pytest.param("delta", "lindorm with schemas", marks=pytest.mark.long),
    pytest.param("iceberg", "lindorm", marks=pytest.mark.long),
]


def rows(spark: SparkSession, lake: Lake, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table; times have their zone, and bytes their type."""
    found = lake.table(spark, name).where(f"NOT {COLUMN}.deleted").toArrow().to_pylist()
    return sorted(found, key=lambda row: int(row[COLUMN]["offset"]))


def of_json(spark: SparkSession, lake: Lake, name: str) -> list[str]:
    """Return the columns of JSON text of a table, which its properties name."""
    place = f"ice.{lake.namespace}.{name}" if lake.namespace else f"delta.`{lake.tables}/{name}`"
    properties = {one.key: one.value for one in spark.sql(f"SHOW TBLPROPERTIES {place}").collect()}
    found: list[str] = property_value(properties[ROWS])[-1]
    return found


@pytest.mark.parametrize(("table_format", "name"), FEW)
def test_no_value_is_lost(
    spark: SparkSession, tmp_path: Path, table_format: str, name: str
) -> None:
    """Each value of a row is in its column, or rescued."""
    source, lake = SOURCES[name], lake_in(table_format, spark, tmp_path)
    draw = Random(2)  # noqa: S311 - no secret
    names = NAMES if "patches" in name else (*NAMES, *CASES, *ODD)
    sent = messages(draw, source, names)
    for batch in cut(draw, sent):
        lake.send_records(batch)
    lake.apply_messages(spark, format=source.format, row_schema="auto", **source.options)
    assert lake.log(spark).where("kind IN ('refused', 'dead_letter')").count() == 0
    key = DIGEST if source.format.startswith("aerospike") else "id"
    found = rows(spark, lake, "users")
    assert lost(rows_of(sent, source), found, [key], of_json(spark, lake, "users")) == []
    assert lake.faults(spark) == []


ORDERS = {"id": "LONG", "price": "LONG", "placed": "DATE"}
PRICED = {**ORDERS, "price": "DOUBLE", "why": "STRING"}
LINES = {"order": "LONG", "line": "LONG", "sku": "STRING"}
KEYS: Mapping[str, Sequence[str]] = {"lines": ("order", "line"), "events": ()}


def written(number: int, table: str, types: Mapping[str, str], row: Any, old: Any = None) -> bytes:
    """Return a write of a row, the values of its columns; or a move from an old one."""
    before, after = (one and dict(zip(types, one, strict=True)) for one in (old, row))
    given: dict[str, Any] = {"table": table, "types": dict(types), "key": KEYS.get(table, ("id",))}
    return message("UPDATE_AFTER", number, after, before=before, **given)


WHOLE_DATABASE = (
    (
        written(1, "orders", ORDERS, (1, 5, 0)),
        written(2, "lines", LINES, (1, 1, "a")),
        written(3, "lines", LINES, (1, 2, "b")),
        written(4, "events", {"what": "STRING"}, ("x",)),
    ),
    (
        written(5, "orders", PRICED, (1, 5.5, 0, "new")),
        written(6, "orders", PRICED, (2, 6, 0, None)),
        written(7, "lines", LINES, (2, 1, "a"), old=(1, 1, "a")),
    ),
)
"""A column is added, a type changes, a key of two columns moves, and a table has no key."""

DAY = datetime(1970, 1, 1, tzinfo=timezone.utc)
TABLES = {
    "lines": [
        ({"order": 1, "line": 2, "sku": "b"}, None),
        ({"order": 2, "line": 1, "sku": "a"}, None),
    ],
    "orders": [
        ({"id": 1, "placed": DAY, "why": "new"}, {"price": 5.5}),
        ({"id": 2, "price": 6, "placed": DAY}, None),
    ],
}


@pytest.mark.parametrize("table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.long)])
def test_a_whole_database(spark: SparkSession, tmp_path: Path, table_format: str) -> None:
    """Each table follows its own messages."""
    lake, start = lake_in(table_format, spark, tmp_path), 0
    for batch in WHOLE_DATABASE:
        lake.send_records(records(*batch, start=start))
        start += len(batch)
    with one_by_one(table_format):
        lake.apply_messages(spark, format="dataworks-json", row_schema="auto")
    found = {name: [*map(comparable, rows(spark, lake, name))] for name in lake.names()}
    assert found == TABLES
    assert lake.faults(spark) == []
