"""The code of docs/landing.md runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.docs.pages import blocks
from tests.runtime.engines.stream.streams import TYPE, stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_page_runs(spark: SparkSession, tmp_path: Path) -> None:
    """The query of the page lands every element."""
    made = stream(tmp_path, 1)
    names: dict[str, Any] = {
        "spark": spark,
        "columns": TYPE,
        "messages": str(tmp_path / "messages"),
        "lake": str(tmp_path),
    }
    (block,) = blocks("docs/landing.md")
    exec(block, names)  # noqa: S102 - our own text
    assert made.landed(spark) == made.expected()
