"""Tables in columns of the types that messages declare or show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from tests.runtime.engines.auto_cases import (
    ALONE,
    BINS,
    DELETED,
    FLAT,
    GIVEN,
    PATCHED,
    WIDE,
    Case,
    comparable,
    flat,
)
from tests.runtime.engines.merge.lake import Lake, lake_in, one_by_one
from tests.runtime.engines.merge.messages import records

import changewire.spark as cws
from changewire.engines.spark.merge import carried
from changewire.tables.row_state import COLUMN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REBUILT = [one.name for one in (PATCHED, BINS, WIDE, GIVEN)]
"""Cases whose tables are rebuilt; others are in the tests of `rebuild`."""


def rows_in(spark: SparkSession, lake: Lake, case: Case) -> list[tuple[dict[str, Any], Any]]:
    """Return the rows of the table of a case."""
    found = sorted(lake.rows(spark, case.table), key=lambda row: str(row["aerospike_digest"]))
    return [
        comparable({n: bytes(v) if isinstance(v, bytearray) else v for n, v in row.items()})
        for row in found
    ]


def named(case: Case, table: str) -> Case:
    """Return a case whose table has another name, and its options as settings of tables."""
    batches = json.loads(json.dumps(case.batches).replace(f'"{case.table}"', f'"{table}"'))
    settings = dict(case.options)
    tables = settings.pop("tables", {})
    own = {f"test.{table}": settings} if settings else {}
    named = {name.replace(case.table, table): one for name, one in tables.items()}
    return case._replace(batches=batches, table=table, options={**own, **named})


@pytest.mark.parametrize(
    ("table_format", "cases"),
    [
        ("delta", (FLAT, PATCHED, BINS, GIVEN, DELETED)),
        pytest.param("delta", (WIDE, ALONE), marks=pytest.mark.long),
        pytest.param("iceberg", (FLAT, GIVEN), marks=pytest.mark.long),
    ],
    ids=["delta", "delta-more", "iceberg"],
)
def test_columns_and_rescued_values(
    spark: SparkSession, tmp_path: Path, table_format: str, cases: Sequence[Case]
) -> None:
    """Values are in columns of their types, or rescued; `verify` says the same."""
    lake = lake_in(table_format, spark, tmp_path)
    tables = [named(case, f"users{number}") for number, case in enumerate(cases)]
    for number, parts in enumerate(zip_longest(*(one.batches for one in tables), fillvalue=())):
        texts = (json.dumps(one).encode() for one in chain(*parts))
        lake.send_records(records(*texts, start=100 * number))
    settings: dict[str, Any] = {name: it for one in tables for name, it in one.options.items()}
    with one_by_one(table_format):
        lake.apply_messages(spark, format="auto", row_schema="auto", tables=settings)
    for case in tables:
        schema = lake.table(spark, case.table).schema
        found = {one.name: one.dataType.simpleString() for one in schema if one.name != COLUMN}
        assert found == case.columns
        assert rows_in(spark, lake, case) == [*case.rows]
    assert lake.faults(spark) == []
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    remade = [one for one in tables if one.name in REBUILT]
    cws.rebuild(spark, **places, tables=[one.table for one in remade])
    for case in remade:
        assert rows_in(spark, lake, case) == [*case.rows]


def test_columns_are_remembered_by_the_texts_that_show_them() -> None:
    """Those of a batch whose texts are not known, or differ, are read."""
    remembered, one, other = carried.CarriedColumns(), ("one",), ("other",)
    reads: list[int] = []
    batches: list[Any] = [{one: 1}, {one: 2, other: 3}, {one: 1, other: 3}]
    batches += [{one: None}, {one: None}]
    for batch in batches:
        facts: Any = SimpleNamespace(columns=batch)
        with patch.object(carried, "carried_of", return_value=dict(batch)) as read:
            assert remembered.of(facts, facts) == batch
        reads.append(read.call_count)
    assert reads == [1, 1, 0, 1, 1]


@pytest.mark.long
def test_columns_that_batches_share_are_read_once(spark: SparkSession, tmp_path: Path) -> None:
    """No job reads the columns of a batch whose messages show what those of an earlier one did."""
    lake = Lake(tmp_path)
    batches = [
        [flat(1, 1, a=1), flat(2, 1, a=2)],
        [flat(2, 2, a=4, b="new")],
        [flat(1, 3, a=5), flat(2, 3, b="both", a=6)],
        [flat(2, 5, a=8, b="as in the second")],
    ]
    for number, batch in enumerate(batches):
        texts = (json.dumps(one).encode() for one in batch)
        lake.send_records([(text, "topic", 0, 10 * number + i) for i, text in enumerate(texts)])
    read = patch.object(carried, "carried_of", wraps=carried.carried_of)
    with one_by_one("delta"), read as reads:
        lake.apply_messages(spark, format="aerospike-flat-json", row_schema="auto")
    assert reads.call_count == 3
    rows = lake.table(spark, "users").select("a", "b").orderBy("a").collect()
    assert [tuple(row) for row in rows] == [(5, None), (8, "as in the second")]
