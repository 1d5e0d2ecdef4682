"""Patches in two messages: halves of one batch do to a table what the whole does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.apply.ways import DRIVER, SPARK, decided
from tests.runtime.engines.halves import MET, UNUSED, halved
from tests.runtime.tables.histories import applied, content

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("way", [DRIVER, SPARK])
def test_halves_of_one_batch_are_one_change(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """Columns go that only the row before has, and so does the key that it alone has."""
    lake, sent = Lake(tmp_path), halved()
    lines: list[str] = []
    for batch in sent:
        lake.send(batch)
    with decided(way):
        lake.apply(spark, metrics=lines.append)
    tables, _ = applied(*sent)
    assert lake.content(spark) == content(tables)
    told = [msgspec.json.decode(line)["tables"] for line in lines]
    assert sum(line.get("lone_before_unused", 0) for line in told) == UNUSED
    befores = [one for batch in sent for one in batch if one.change.after is None]
    assert len(befores) == MET + UNUSED
