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
from tests.runtime.engines.merge.lake import Lake, lake_in
from tests.runtime.engines.merge.messages import message, records

import changewire.spark as cws
from changewire.engines.applied import property_value
from changewire.engines.typed.own import ROWS
from changewire.tables.row_state import COLUMN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW = {"delta": ("flat", "patches", "lindorm with schemas", "dataworks"), "iceberg": ("flat",)}


def rows(spark: SparkSession, lake: Lake, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table; times have their zone, and bytes their type."""
    found = lake.table(spark, name).where(f"NOT {COLUMN}.deleted").toArrow().to_pylist()
    return sorted(found, key=lambda row: repr(row[COLUMN]["offset"]))


def of_json(spark: SparkSession, lake: Lake, name: str) -> list[str]:
    """Return the columns of JSON text of a table, which its properties name."""
    place = f"ice.{lake.namespace}.{name}" if lake.namespace else f"delta.`{lake.tables}/{name}`"
    properties = {one.key: one.value for one in spark.sql(f"SHOW TBLPROPERTIES {place}").collect()}
    found: list[str] = property_value(properties[ROWS])[-1]
    return found


def checked(spark: SparkSession, lake: Lake) -> None:
    """Check that `verify` finds nothing."""
    places = {name: one for name, one in lake.places.items() if name != "checkpoint"}
    assert cws.verify(spark, places.pop("log"), **places).collect() == []


@pytest.mark.parametrize(
    ("table_format", "name"), [(one, name) for one, names in FEW.items() for name in names]
)
def test_no_value_is_lost(
    spark: SparkSession, tmp_path: Path, table_format: str, name: str
) -> None:
    """Each value of a row is in its column, or rescued."""
    source, draw, lake = SOURCES[name], Random(2), lake_in(table_format, spark, tmp_path)  # noqa: S311 - no secret
    names = NAMES if "patches" in name else (*NAMES, *CASES, *ODD)
    sent = messages(draw, source, names)
    for batch in cut(draw, sent):
        lake.send_records(batch)
    lake.apply_messages(spark, format=source.format, row_schema="auto", **source.options)
    assert lake.log(spark).where("kind IN ('refused', 'dead_letter')").count() == 0
    key = DIGEST if source.format.startswith("aerospike") else "id"
    found = rows(spark, lake, "users")
    assert lost(rows_of(sent, source), found, [key], of_json(spark, lake, "users")) == []
    checked(spark, lake)


def change(
    number: int, table: str, row: Mapping[str, Any], types: Mapping[str, str], **of: Any
) -> bytes:
    """Return a write of a table of the database."""
    told: dict[str, Any] = {"table": table, "types": dict(types), **of}
    return message("UPDATE_AFTER", number, dict(row), **told)


ORDERS = {"id": "LONG", "price": "LONG", "placed": "DATE"}
LINES = {"order": "LONG", "line": "LONG", "sku": "STRING"}
PAIR: Sequence[str] = ("order", "line")
WHOLE_DATABASE = (
    (
        change(1, "orders", {"id": 1, "price": 5, "placed": 0}, ORDERS),
        change(2, "lines", {"order": 1, "line": 1, "sku": "a"}, LINES, key=PAIR),
        change(3, "lines", {"order": 1, "line": 2, "sku": "b"}, LINES, key=PAIR),
        change(4, "people", {"id": 1, "name": "Ann"}, {"id": "LONG", "name": "STRING"}),
        change(5, "people", {"id": 2, "name": "Bo"}, {"id": "LONG", "name": "STRING"}),
        change(6, "flags", {"id": 1, "on": True}, {"id": "LONG", "on": "BOOLEAN"}),
        change(7, "events", {"what": "x"}, {"what": "STRING"}, key=()),
    ),
    (
        change(8, "orders", {"id": 1, "price": 5.5, "placed": 0}, {**ORDERS, "price": "DOUBLE"}),
        change(9, "orders", {"id": 2, "price": 6.0, "placed": 0}, {**ORDERS, "price": "DOUBLE"}),
        change(
            10,
            "lines",
            {"order": 2, "line": 1, "sku": "a"},
            LINES,
            key=PAIR,
            before={"order": 1, "line": 1, "sku": "a"},
        ),
        change(
            11,
            "people",
            {"id": 3, "name": "Bo"},
            {"id": "LONG", "name": "STRING"},
            before={"id": 2},
        ),
        change(
            12,
            "flags",
            {"id": 1, "on": False, "why": "off"},
            {"id": "LONG", "on": "BOOLEAN", "why": "STRING"},
        ),
        change(13, "flags", {"id": 2, "on": "yes"}, {"id": "LONG", "on": "STRING"}),
    ),
)
"""A column is added, types change, keys of two columns and of one move, and a table has none."""


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_a_whole_database(spark: SparkSession, tmp_path: Path, table_format: str) -> None:
    """Each table follows its own messages."""
    lake, start = lake_in(table_format, spark, tmp_path), 0
    for batch in WHOLE_DATABASE:
        lake.send_records(records(*batch, start=start))
        start += len(batch)
        lake.apply_messages(spark, format="dataworks-json", row_schema="auto")
    found = {
        name: [comparable(row) for row in rows(spark, lake, name)] for name in sorted(lake.names())
    }
    day = datetime(1970, 1, 1, tzinfo=timezone.utc)
    assert found == {
        "flags": [({"id": 1, "on": False, "why": "off"}, None), ({"id": 2}, {"on": "yes"})],
        "lines": [
            ({"order": 1, "line": 2, "sku": "b"}, None),
            ({"order": 2, "line": 1, "sku": "a"}, None),
        ],
        "orders": [
            ({"id": 1, "placed": day}, {"price": 5.5}),
            ({"id": 2, "price": 6, "placed": day}, None),
        ],
        "people": [({"id": 1, "name": "Ann"}, None), ({"id": 3, "name": "Bo"}, None)],
    }
    checked(spark, lake)
