"""A batch that fails at any of its steps is written again, and nothing is lost, double or wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from pyspark.errors import StreamingQueryException
from tests.runtime.engines.merge.lake import Lake, lake_in
from tests.runtime.engines.merge.messages import message, records

from changewire.engines.known import KnownLog
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.merge import batch
from changewire.engines.spark.merge.table import SparkTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEPS: dict[str, tuple[Any, str, int, bool]] = {
    "before the log": (LogPlace, "append", 1, True),
    "after the log": (LogPlace, "append", 1, False),
    "before a table is made": (SparkTable, "make", 2, True),
    "after a table is made": (SparkTable, "make", 2, False),
    "before the first MERGE": (SparkTable, "merge", 1, True),
    "between two MERGEs": (SparkTable, "merge", 1, False),
    "before the refused changes": (batch, "refused_rows", 1, True),
    "after the refused changes": (KnownLog, "add", 1, True),
}
"""Class and method of each step, which call of it fails, and whether it does nothing before."""

NAMES = ("T", "u")
"""Tables that take the changes; the name of a third differs from the first in case only."""

EARLY = [
    *("before the log", "after the log", "before a table is made"),
    *("before the first MERGE", "before the refused changes"),
]
"""Steps that leave less behind than later ones, or that the tests of landing take as well."""


@contextmanager
def failing(step: str) -> Generator[None, None, None]:
    """Let a batch fail once at a step."""
    owner, name, number, is_before = STEPS[step]
    real: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def once(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        is_the_one = calls == number  # tables are merged at once
        if is_the_one and is_before:
            raise OSError(step)
        found = real(*arguments, **named)
        if is_the_one:
            raise OSError(step)
        return found

    with patch.object(owner, name, once):
        yield


def sent() -> list[bytes]:
    """Return changes of two tables, deletes, a broken message, and a change that no table takes."""
    found = []
    for table in NAMES:
        found += [message("INSERT", 1, {"id": n, "name": "a"}, table=table) for n in range(3)]
        found.append(message("UPDATE_AFTER", 4, {"id": 1, "name": "b"}, table=table))
        found.append(message("DELETE", 5, {"id": 2, "name": "a"}, table=table))
    # Of two tables that differ in case only, the first in order has the name.
    return [*found, b"{", message("INSERT", 1, {"id": 1}, table="t")]


def check(spark: SparkSession, lake: Lake) -> None:
    """Every element is in the log once, what is refused is there, and tables are right."""
    found = lake.log(spark).groupBy("kind", "offset").count().collect()
    landed = Counter(row["offset"] for row in found if row["kind"] != "refused")
    assert landed == Counter(range(len(sent())))
    assert {row["count"] for row in found if row["kind"] != "refused"} == {1}
    assert [row["offset"] for row in found if row["kind"] == "refused"] == [len(sent()) - 1]
    for name in NAMES:
        rows = sorted(lake.json_rows(spark, name), key=lambda row: int(row["id"]))
        assert rows == [{"id": 0, "name": "a"}, {"id": 1, "name": "b"}]


@pytest.mark.parametrize(
    ("table_format", "steps"),
    [
        ("delta", [one for one in STEPS if one not in EARLY]),
        ("iceberg", ["after the refused changes"]),
        pytest.param("delta", EARLY, marks=pytest.mark.long),
    ],
)
def test_a_batch_that_failed_is_written_again(
    spark: SparkSession, tmp_path: Path, table_format: str, steps: list[str]
) -> None:
    """It fails at one step after the other: what was done before is done once, the rest follows."""
    lake = lake_in(table_format, spark, tmp_path, lands_in_spark=steps is EARLY)
    lake.send_records(records(*sent()))
    for step in steps:
        with failing(step), pytest.raises(StreamingQueryException, match=step):
            lake.apply_messages(spark, format="dataworks-json")
    lake.apply_messages(spark, format="dataworks-json")
    check(spark, lake)
