"""Tables in columns of the types that messages declare or show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from tests.runtime.engines.auto_cases import CASES, FLAT, GIVEN, Case, comparable, flat
from tests.runtime.engines.merge.lake import Lake, lake_in, one_by_one

import changewire.spark as cws
from changewire.engines.spark.merge import carried
from changewire.tables.row_state import COLUMN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


IN_ICEBERG = (FLAT, GIVEN)
LONG = pytest.mark.long
"""Of a case that tables of Iceberg have, too."""


def rows_in(spark: SparkSession, lake: Lake, case: Case) -> list[tuple[dict[str, Any], Any]]:
    """Return the rows of the table of a case."""
    found = lake.table(spark, case.table).orderBy("aerospike_digest").collect()
    rows = (one.asDict(recursive=True) for one in found)
    return [
        comparable({n: bytes(v) if isinstance(v, bytearray) else v for n, v in row.items()})
        for row in rows
    ]


@pytest.mark.parametrize(
    ("table_format", "case"),
    [
        *(pytest.param("delta", one, marks=[LONG] if one in IN_ICEBERG else []) for one in CASES),
        *(("iceberg", case) for case in IN_ICEBERG),
    ],
    ids=lambda one: one if isinstance(one, str) else one.name,
)
def test_columns_and_rescued_values(
    spark: SparkSession, tmp_path: Path, table_format: str, case: Case
) -> None:
    """Values are in columns of their types, or rescued; `verify` says the same."""
    lake, start = lake_in(table_format, spark, tmp_path), 0
    for batch in case.batches:
        lake.send_records(
            [
                (json.dumps(one).encode(), "topic", 0, start + number)
                for number, one in enumerate(batch)
            ]
        )
        start += len(batch)
    with one_by_one(table_format):
        lake.apply_messages(spark, format=case.format, row_schema="auto", **case.options)
    schema = lake.table(spark, case.table).schema
    found = {one.name: one.dataType.simpleString() for one in schema if one.name != COLUMN}
    assert found == case.columns
    assert rows_in(spark, lake, case) == [*case.rows]
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    log = places.pop("log")
    assert lake.faults(spark) == []
    cws.rebuild(spark, log, **places)
    assert rows_in(spark, lake, case) == [*case.rows]


def test_columns_that_batches_share_are_read_once(spark: SparkSession, tmp_path: Path) -> None:
    """No job reads the columns of a batch whose messages show what those of an earlier one did."""
    lake = Lake(tmp_path)
    batches = [
        [flat(1, 1, a=1), flat(2, 1, a=2)],
        [flat(1, 2, a=3)],
        [flat(2, 2, a=4, b="new")],
        [flat(1, 3, a=5), flat(2, 3, a=6, b="both")],
        [flat(2, 4, b="again", a=7)],
        [flat(2, 5, a=8, b="as in the third")],
    ]
    for number, batch in enumerate(batches):
        texts = (json.dumps(one).encode() for one in batch)
        lake.send_records([(text, "topic", 0, 10 * number + i) for i, text in enumerate(texts)])
    read = patch.object(carried, "carried_of", wraps=carried.carried_of)
    with one_by_one("delta"), read as reads:
        lake.apply_messages(spark, format="aerospike-flat-json", row_schema="auto")
    assert reads.call_count == 4
    rows = lake.table(spark, "users").select("a", "b").orderBy("a").collect()
    assert [tuple(row) for row in rows] == [(5, None), (8, "as in the third")]
