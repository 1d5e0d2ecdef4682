"""The code of docs/applying.md runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.docs.pages import blocks
from tests.runtime.engines.stream.streams import TYPE, stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("interpreted")


def test_the_page_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The query of the page lands every element and makes tables; replay and vacuum run."""
    made = stream(tmp_path, 1)
    names: dict[str, Any] = {
        "spark": spark,
        "columns": TYPE,
        "messages": str(tmp_path / "messages"),
        "lake": str(tmp_path),
    }
    query, replay, vacuum = blocks("docs/applying.md")
    exec(query, names)  # noqa: S102 - our own text
    assert "9 changes" in capsys.readouterr().out
    log = spark.read.format("delta").load(str(tmp_path / "ops" / "changes"))
    assert log.count() == made.expected()["changes"].total()
    table = str(tmp_path / "test" / "no_set")
    assert spark.read.format("delta").load(table).columns == ["key", "row", "_changewire"]
    exec(replay, names)  # noqa: S102 - our own text
    assert names["replayed"][:2] == (1, 0)  # still refused
    exec(vacuum, names)  # noqa: S102 - our own text
    tombstones = spark.read.format("delta").load(f"{table}__tombstones")
    assert tombstones.columns == ["key", "_changewire", "since"]
