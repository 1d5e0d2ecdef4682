"""One rule in two engines: the same messages give the same log and the same tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql.types import DecimalType, LongType, StructField, StructType
from tests.runtime.engines.merge.lake import Lake as SparkLake
from tests.runtime.engines.merge.lake import check_accounts, one_by_one
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake, numbers_of

import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines.log import ELEMENT_PLACE
from changewire.engines.typed.types import sql_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MONEY = StructType([StructField("id", LongType()), StructField("price", DecimalType(20, 2))])
ROWS = {"orders": MONEY, "items": "embedded", "*": "json"}


def batches() -> list[list[tuple[Any, ...]]]:
    """Return messages of all kinds: late, moved, deleted, refused, dead, and of three shapes."""
    row = {"id": 1, "name": "a", "price": "1.50"}
    truncate = message("INSERT", 7, None, table="orders").replace(b'"INSERT"', b'"TRUNCATE"')
    moves = [
        message("UPDATE_BEFOR", 6, None, before=row, table="Notes"),
        message("UPDATE_AFTER", 6, {**row, "id": 2}, table="Notes"),
        message("UPDATE_BEFOR", 6, None, before={**row, "id": 8}, table="Notes"),
    ]
    every = ("Notes", "orders", "items")
    first = [message("INSERT", 5, row, table=table) for table in every]
    second = [message("DELETE", 9, row, table=table) for table in every]
    third = [message("UPDATE_AFTER", 8, {**row, "id": 3}, table=table) for table in every]
    late = [message("INSERT", 8, row, table=table) for table in every]
    others = [
        b"{",
        truncate,
        message("INSERT", 1, row, table="notes"),
        message("INSERT", 1, {"id": 4, "price": "1.999"}, table="orders"),
        message("INSERT", 1, {"id": 5, "price": "12345678901234567.89"}, table="orders"),
    ]
    return [
        records(*first, *others, *moves, *second, *third),
        records(*late, start=40),
    ]


def contents(folder: str, order: tuple[str, ...]) -> tuple[dict[str, str], list[Any]]:
    """Return the types of a table's columns, and its rows in an order."""
    table = DeltaTable(folder)
    fields = json.loads(table.schema().to_json())["fields"]
    rows = table.to_pyarrow_table().to_pylist()
    ordered = sorted(rows, key=lambda row: [str(row[name]) for name in order])
    return {field["name"]: sql_name(field["type"]) for field in fields}, ordered


def said(accounts: list[dict[str, dict[str, int]]]) -> Counter[tuple[str, str]]:
    """Return what accounts say of changes, whatever batches they came in."""
    names = ("changes", "refused", "key_missing", "before_images", "moved")
    found = Counter[tuple[str, str]]()
    for table, numbers in ((name, one) for each in accounts for name, one in each.items()):
        found.update({(table, name): numbers.get(name, 0) for name in names})
    return +found


def test_log_and_tables_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Types and rows of the log and of each table are equal, with all metadata."""
    given: dict[str, Any] = {"apply_truncates": True, "row_schema": ROWS}
    theirs, ours = SparkLake(tmp_path / "spark", lands_in_spark=True), Lake(tmp_path / "local")
    lines, numbers = list[str](), []
    for batch in batches():
        theirs.send_records(batch)
        numbers.append(numbers_of(ours.apply_records(batch, **given)))
    theirs.apply_messages(spark, format="dataworks-json", metrics=lines.append, **given)
    check_accounts(lines)
    accounts = [one.get("changes_by_table", {}) for one in map(json.loads, lines)]
    assert said(accounts) == said(numbers)
    logs = [contents(lake.places["log"], ("kind", *ELEMENT_PLACE)) for lake in (theirs, ours)]
    for places, (_, rows) in zip((theirs.places, ours.places), logs, strict=True):
        refusing = {(row["kind"] == "refused", row.pop("target")) for row in rows}
        assert refusing == {(False, None), (True, places["target"])}
    assert logs[0] == logs[1]
    assert {row["kind"] for row in logs[1][1]} == {"change", "control", "dead_letter", "refused"}
    assert ours.names() == theirs.names() == ["Notes", "items", "orders"]
    for name in ours.names():
        found = [
            contents(f"{lake.root}/tables/{name}", ("_changewire",)) for lake in (theirs, ours)
        ]
        assert found[0] == found[1]
        assert found[1][1]


def test_accounts_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Changes of a source that went back to older sequences are not newer, as rows and patches."""
    given: dict[str, Any] = {"row_image": {"d.items": "patch"}}
    theirs, ours = SparkLake(tmp_path / "spark"), Lake(tmp_path / "local")
    lines, numbers = list[str](), []
    for start, orders in enumerate(((5, 6), (3, 4))):
        each = [
            message("UPDATE_AFTER", order, {"id": 1, "name": f"{order}"}, table=table)
            for table in ("orders", "items")
            for order in orders
        ]
        batch = records(*each, start=10 * start)
        theirs.send_records(batch)
        numbers.append(numbers_of(ours.apply_records(batch, **given)))
    with one_by_one("delta"):
        theirs.apply_messages(spark, format="dataworks-json", metrics=lines.append, **given)
    found = [one for line in lines if (one := json.loads(line).get("changes_by_table"))]
    assert found == numbers
    assert [*found[0].values()] == [{"changes": 2, "inserted": 1, "replaced": 1}] * 2
    assert [*found[1].values()] == [{"changes": 2, "replaced": 1, "not_newer": 1}] * 2


def faults(found: pa.Table) -> list[str]:
    """Return rows that differ, in an order of their own."""
    return sorted(json.dumps(row) for row in found.to_pylist())


def damage(tables: Sequence[str]) -> None:
    """Delete rows of tables, and change a row of orders."""
    for place in tables:
        DeltaTable(place).delete("id = 1" if place.endswith("orders") else "true")
    DeltaTable(tables[-1]).update({"price": "7"}, predicate="id = 3")


def test_both_see_the_same_faults(spark: SparkSession, tmp_path: Path) -> None:
    """`verify` names the same rows, and what one engine rebuilds is right for the other one."""
    given: dict[str, Any] = {"apply_truncates": True}
    lake = Lake(tmp_path)
    for batch in batches():
        lake.apply_records(batch, row_schema=ROWS, **given)
    log, at = lake.places["log"], {"target": lake.places["target"], **given}
    tables = [f"{tmp_path}/tables/{name}" for name in lake.names()]
    damage(tables)
    found = faults(cwd.verify(log, **at))
    assert {json.loads(one)["fault"] for one in found} == {"missing", "different"}
    assert found == faults(cws.verify(spark, log, **at).toArrow())
    notes, items, orders = tables
    by_delta_rs = ["d.Notes", "d.items"]
    assert sorted(cwd.rebuild(log, tables=by_delta_rs, **at)) == [notes, items]
    assert cws.rebuild(spark, log, tables=["d.orders"], **at) == [orders]
    assert not len(cwd.verify(log, **at))
    assert not cws.verify(spark, log, only_tables=by_delta_rs, **at).count()
