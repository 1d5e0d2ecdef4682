"""Plain changes merged into typed tables come to what batches that are counted first come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from pyspark.sql.types import StringType, StructField, StructType
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.apply.test_direct_batches import Tried
from tests.runtime.engines.apply.test_large_batches import landed, rows, sent
from tests.runtime.engines.apply.test_typed_tables import landed as landed_messages
from tests.runtime.engines.apply.test_typed_tables import message
from tests.runtime.engines.apply.ways import DRIVER, REPORTED, decided

from changewire.engines.kept import SUFFIX
from changewire.engines.spark.apply import batch as batches
from changewire.engines.spark.apply import reported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("few", [0, reported.FEW], ids=["by columns", "row by row"])
def test_typed_rows_come_to_the_same(spark: SparkSession, tmp_path: Path, few: int) -> None:
    """So do real messages with broken ones among them, into columns of a type.

    A batch that moves a row to another key is counted first.
    """
    small, direct = (Lake(tmp_path / name) for name in ("small", "direct"))
    batches_sent = sent(moving=[3])
    expected, _ = landed(spark, small, DRIVER, *batches_sent)
    with (
        patch.object(reported, "FEW", few),
        patch.object(batches, "append_plain", Tried()) as tried,
    ):
        lines, _ = landed(spark, direct, REPORTED, *batches_sent)
    assert tried.were_plain == [True, True, False]
    for line, counted in zip(lines, expected, strict=True):
        for name in ("tables", "changes", "dead_letters", "by_error_code"):
            assert line.get(name) == counted.get(name), name
    for name in ("customers", f"customers{SUFFIX}"):
        assert rows(direct.folder / name) == rows(small.folder / name)


TYPES = {"id": "STRING", "name": "STRING"}
NAMED = StructType([StructField(name, StringType()) for name in TYPES])

UNFITTED = {
    "its row is not fitted": [message("INSERT", 21, TYPES, id='a"b', name="c")],
    "a key of other columns": [
        message("INSERT", 21, TYPES, id="d", name="e").replace(b'["id"]', b'["name"]')
    ],
}
"""Messages whose changes are plain, but for the table."""


@pytest.mark.parametrize("what", UNFITTED)
def test_a_row_that_needs_another_look_is_counted_first(
    spark: SparkSession, tmp_path: Path, what: str
) -> None:
    """Rows and dead letters are those of batches that are counted first."""
    plain = message("INSERT", 20, TYPES, id="a", name="b")
    made = [[plain], [message("UPDATE_AFTER", 22, TYPES, id="a", name="c")], UNFITTED[what]]
    found: dict[str, Any] = {}
    options: dict[str, Any] = {"format": "dataworks-json", "rows": NAMED}
    for way in (DRIVER, REPORTED):
        lake, tried = Lake(tmp_path / way), Tried()
        with decided(way), patch.object(batches, "append_plain", tried):
            landed_messages(spark, lake, *made, **options)
        assert tried.were_plain == ([] if way == DRIVER else [True, False])
        letters = spark.read.format("delta").load(lake.outputs()["dead_letters"])
        refused = [(row["offset"], row["code"]) for row in letters.collect()]
        found[way] = rows(lake.folder / "t"), refused
    assert found[REPORTED] == found[DRIVER]
