"""What the rows of a log need beside the newest change of each key, and plans without the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.pandas.types import from_arrow_schema

from changewire.engines.log import log_schema
from changewire.engines.spark.merge.shapes import JsonShape
from changewire.engines.spark.merge.table_log import ANY, Needs, TableLog, needs_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLAIN = {
    "kind": "change",
    "op": "insert",
    "key": '{"id":1}',
    "after": '{"id":1,"n":2}',
    "sequence": {"major": 1, "minor": 0},
    "effect": "full",
    "columns": '{"id":"LONG","n":"LONG"}',
    "attempt": 0,
}

CASES: list[tuple[dict[str, Any], set[str]]] = [
    ({}, set()),
    ({"kind": "refused"}, {"refusals"}),
    ({"attempt": 1}, {"replays"}),
    ({"kind": "dead_letter", "attempt": 1, "key": None, "effect": None}, {"replays"}),
    ({"effect": None}, {"effects", "images", "patches"}),
    ({"columns": None}, {"effects", "images", "patches"}),
    ({"effect": "before", "op": "update"}, {"images"}),
    ({"effect": "patch"}, {"patches"}),
    ({"effect": "keys"}, {"patches"}),
    ({"sequence": None}, {"sequences"}),
    ({"sequence": None, "key": None}, set()),
]
"""Columns that differ from `PLAIN`, and what one such row beside it needs."""


def test_what_rows_of_a_log_need(spark: SparkSession) -> None:
    """One row is enough; a change without a key is in no table."""
    for given, needed in CASES:
        needs = needs_of(rows_of(spark, PLAIN, PLAIN | given))
        assert {name for name, one in needs._asdict().items() if one} == needed, given


def test_rows_that_need_nothing_are_joined_with_nothing(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """So a table reads its log once, and Python decides on none of its rows."""
    log, shape = rows_of(spark, PLAIN), JsonShape()
    for needs, has_joins in ((Needs(*[False] * len(ANY)), False), (ANY, True)):
        mine = TableLog(log, log, needs)
        mine.rows(mine.effects(shape), shape).explain()
        assert ("Join" in capsys.readouterr().out) is has_joins


def rows_of(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return rows of a log; columns that they leave out are NULL."""
    schema = from_arrow_schema(log_schema())
    return spark.createDataFrame([{**dict.fromkeys(schema.names), **one} for one in rows], schema)
