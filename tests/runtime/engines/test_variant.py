"""Rows as VARIANT: what it cannot hold exactly is text, and counted."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

import changewire.spark as cws
from changewire.engines.spark.variant import numbers_as_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "aerospike-json"
HEAD = (
    '{"msg": "write", "key": ["n", "t", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", null], "gen": 1, "exp": 0'
)
LUT = 1617167159548
LARGE = 10**38


def decoded(spark: SparkSession, *values: str) -> cws.DecodedFrames:
    """Return a write of a list for each text of its elements, decoded."""
    texts = [
        f'{HEAD}, "lut": {LUT + i}, "bins": [{{"name": "a", "type": "list", "value": [{value}]}}]}}'
        for i, value in enumerate(values)
    ]
    frame = spark.createDataFrame([(text,) for text in texts], "value string")
    return cws.decode(frame, format=FORMAT, row_schema="variant")


def test_numbers_are_exact_or_text(spark: SparkSession) -> None:
    """Up to 38 digits a number is a decimal; beyond it is text with every digit, and counted."""
    found = decoded(spark, str(LARGE - 1), str(-LARGE), "1e300", "5e-324", "0.1")
    element = F.to_json(F.variant_get("after", "$.a[0]", "variant"))
    rows = found.changes.orderBy("event_time").select(element.alias("text"), "leniencies").collect()
    assert {row["text"] for row in rows} == {
        str(LARGE - 1),
        f'"{-LARGE}"',
        "1.0E300",
        "4.9E-324",
        "0.1",
    }
    assert found.counts.leniencies == {"number-as-text": 1}


def test_what_spark_cannot_parse_is_whole_as_text(spark: SparkSession) -> None:
    """A row that Spark gives up on is no NULL: it is its JSON text, and counted."""
    name = "n" * 50_001
    found = decoded(spark, "1", json.dumps({name: 1}))
    text = F.variant_get("after", "$", "string").alias("text")
    (row,) = found.changes.where("array_contains(leniencies, 'row-as-text')").select(text).collect()
    assert json.loads(row["text"]) == {"a": [{name: 1}]}
    assert found.counts.leniencies == {"row-as-text": 1}


def test_variant_rows_are_written(spark: SparkSession, tmp_path: Path) -> None:
    """Counts and rows of the log agree after a write."""
    found = cws.write(
        decoded(spark, str(LARGE), "1"), str(tmp_path / "log"), table_format="parquet"
    )
    assert (found.counts.changes, found.counts.leniencies) == (2, {"number-as-text": 1})
    written = spark.read.parquet(str(tmp_path / "log"))
    kinds = {row[0] for row in written.select(F.schema_of_variant("after")).collect()}
    assert kinds == {"OBJECT<a: ARRAY<STRING>>", "OBJECT<a: ARRAY<BIGINT>>"}


VALUES = st.recursive(
    st.none() | st.integers(-(10**40), 10**40) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


def as_text(value: Any) -> Any:
    """Return a value as the function under test should leave it."""
    if isinstance(value, dict):
        return {name: as_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_text(item) for item in value]
    return str(value) if isinstance(value, int) and abs(value) >= LARGE else value


@given(row=st.dictionaries(st.text(max_size=3), VALUES))
def test_only_what_is_too_large_becomes_text(row: dict[str, Any]) -> None:
    """All other values stay as they are, and what was given is left as it was."""
    before = copy.deepcopy(row)
    columns: dict[str, Any] = {"after": row, "before": None}
    count = numbers_as_text(columns)
    assert repr(columns) == repr({"after": as_text(row), "before": None})
    assert repr(row) == repr(before)
    assert (count > 0) == (repr(as_text(row)) != repr(row))


def test_depth_is_no_danger() -> None:
    """Values nested deeper than Python recurses are looked through."""
    deep: list[Any] = [LARGE]
    for _ in range(100_000):
        deep = [deep]
    assert numbers_as_text({"after": {"a": deep}}) == 1
