"""Tables in columns of the types that messages declare or show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.runtime.engines.auto_cases import CASES, FLAT, GIVEN, Case, comparable
from tests.runtime.engines.merge.lake import Lake, lake_in

import changewire.spark as cws
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
        lake.apply_messages(spark, format=case.format, row_schema="auto", **case.options)
    schema = lake.table(spark, case.table).schema
    found = {one.name: one.dataType.simpleString() for one in schema if one.name != COLUMN}
    assert found == case.columns
    assert rows_in(spark, lake, case) == [*case.rows]
    places = {n: one for n, one in lake.places.items() if n != "checkpoint"}
    log = places.pop("log")
    assert cws.verify(spark, log, **places).collect() == []
    cws.rebuild(spark, log, **places)
    assert rows_in(spark, lake, case) == [*case.rows]
