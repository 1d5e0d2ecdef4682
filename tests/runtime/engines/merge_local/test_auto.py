"""Tables without Spark in columns of the types that messages declare or show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.runtime.engines.auto_cases import CASES, KEYS, Case, comparable, delete, row, write
from tests.runtime.engines.merge_local.lake import recorded

from changewire import delta
from changewire.engines.merge import delta as tables
from changewire.engines.typed.types import sql_name
from changewire.tables.row_state import COLUMN


def applied(case: Case, folder: Path, *, at_once: bool = False, **options: Any) -> Any:
    """Apply the batches of a case, and return the outcome of the last one."""
    start, out = 0, None
    parts = [[one for batch in case.batches for one in batch]] if at_once else case.batches
    for batch in parts:
        rows = [
            (json.dumps(one).encode(), "topic", 0, start + number)
            for number, one in enumerate(batch)
        ]
        start += len(batch)
        given: dict[str, Any] = {"row_schema": "auto", **case.options, **options}
        out = delta.apply_changes(
            recorded(rows),
            format=case.format,
            log=f"{folder}/log",
            target=f"{folder}/tables/{{table}}",
            **given,
        )
    return out


def table(case: Case, folder: Path) -> DeltaTable:
    """Return the table of a case."""
    return DeltaTable(f"{folder}/tables/{case.table}")


def rows_in(case: Case, folder: Path) -> list[tuple[dict[str, Any], Any]]:
    """Return the rows of the table of a case."""
    found = table(case, folder).to_pyarrow_table().sort_by("aerospike_digest")
    return [comparable(one) for one in found.to_pylist()]


def columns_in(case: Case, folder: Path) -> dict[str, str] | None:
    """Return the types of the columns of the table of a case; None without a table."""
    if not DeltaTable.is_deltatable(f"{folder}/tables/{case.table}"):
        return None
    fields = tables.columns_of(table(case, folder).schema())["fields"]
    return {one["name"]: sql_name(one["type"]) for one in fields if one["name"] != COLUMN}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_columns_and_rescued_values(case: Case, tmp_path: Path) -> None:
    """Values are in columns of their types, or rescued; `verify` says the same."""
    applied(case, tmp_path)
    assert columns_in(case, tmp_path) == case.columns
    assert rows_in(case, tmp_path) == [*case.rows]
    places = {"log": f"{tmp_path}/log", "target": f"{tmp_path}/tables/{{table}}"}
    assert delta.verify(places["log"], target=places["target"]).to_pylist() == []
    delta.rebuild(places["log"], target=places["target"])
    assert rows_in(case, tmp_path) == [*case.rows]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_value_is_lost_in_one_batch(case: Case, tmp_path: Path) -> None:
    """In one batch types may be others, but each value is in its column or rescued."""
    applied(case, tmp_path, at_once=True)
    for (found, rescued), (expected, kept) in zip(rows_in(case, tmp_path), case.rows, strict=True):
        assert {*found, *(rescued or {})} == {*expected, *(kept or {})}


def test_a_record_of_two_hundred_bins(tmp_path: Path) -> None:
    """Each bin has a column of its type; text that takes its place is there or rescued."""
    kinds = (
        *(("int", "bigint", 2**53 + 1), ("float", "double", 0.5), ("bool", "boolean", True)),
        *(("str", "string", "text"), ("list", "string", [1]), ("map", "string", {"k": [None]})),
    )
    bins = {f"bin-{n}": kinds[n % len(kinds)] for n in range(200)}
    first = write(1, 1, *((name, kind, value) for name, (kind, _, value) in bins.items()))
    second = write(1, 2, *((name, "str", "x") for name in bins))
    of_text = {name: one for name, one in bins.items() if one[1] == "string"}
    texts = {name: "x" if kind == "str" else '"x"' for name, (kind, _, _) in of_text.items()}
    rescued = dict.fromkeys(bins.keys() - of_text.keys(), "x")
    columns = {**KEYS, **{name: column for name, (_, column, _) in bins.items()}}
    case = Case("", "aerospike-json", [[first], [second]], "users", columns, [])
    out = applied(case, tmp_path)
    assert out.changes_by_table["test.users"].numbers() == {
        "changes": 1,
        "updated": 1,
        "rescued": dict.fromkeys(rescued, 1),
    }
    assert columns_in(case, tmp_path) == columns
    assert rows_in(case, tmp_path) == [(row(1, **texts), rescued)]


def test_misfits_are_refused_if_asked(tmp_path: Path) -> None:
    """`misfits="refuse"` refuses a change with a value that does not fit."""
    out = applied(CASES[0], tmp_path, misfits="refuse")
    assert out is not None
    assert out.tables == {"updated": 1}
    log = DeltaTable(f"{tmp_path}/log").to_pyarrow_table()
    refused = log.filter(pa.compute.equal(log["kind"], "refused"))
    assert refused["offset"].to_pylist() == [2]


@pytest.mark.parametrize(
    ("types", "columns", "refused"),
    [({}, None, ["partition-mismatch"]), ({"a": "string"}, {**KEYS, "a": "string"}, [])],
)
def test_partitions_of_a_table_of_keys_alone(
    tmp_path: Path, types: dict[str, str], columns: dict[str, str] | None, refused: list[str]
) -> None:
    """Columns of partitions need a type by settings, or the changes are refused."""
    case = Case("", "aerospike-json", [[write(1, 5)]], "users", {}, [])
    settings = {"*": {"partition_by": ["a"], "columns": types}}
    applied(case, tmp_path, tables=settings)
    assert columns_in(case, tmp_path) == columns
    log = DeltaTable(f"{tmp_path}/log").to_pyarrow_table()
    assert log["code"].drop_null().to_pylist() == refused


LINDORM = {
    "op": "d",
    "ts_ms": 5,
    "before": {"id": 5},
    "source": {"namespace": "test", "table": "users", "ts_ms": 5},
}
"""A delete that declares no types."""


@pytest.mark.parametrize(
    ("message", "options", "columns"),
    [
        (delete(1, 5), {"deletes": "remove"}, None),
        (delete(1, 5, None), {"deletes": "flag"}, None),
        (delete(1, 5), {"deletes": "flag"}, KEYS),
        (LINDORM, {"deletes": "flag", "key_columns": ["id"]}, {"id": "bigint"}),
    ],
)
def test_tables_that_deletes_make(
    tmp_path: Path,
    message: dict[str, Any],
    options: dict[str, Any],
    columns: dict[str, str] | None,
) -> None:
    """A delete makes a table if it names one that keeps deleted rows; its key says the types."""
    name = "lindorm-json" if message is LINDORM else "aerospike-json"
    case = Case("", name, [[message]], "users", {}, [])
    applied(case, tmp_path, **options)
    assert columns_in(case, tmp_path) == columns
