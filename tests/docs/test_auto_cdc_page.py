"""The code of docs/auto-cdc.md runs, but for what needs a pipeline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.docs.pages import blocks
from tests.runtime.changes import dataworks

import changewire as cw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "auto-cdc.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_runs(spark: SparkSession) -> None:
    """Each block runs after the one before it; a change without key is kept beside the flow."""
    row = {"id": 1, "name": "a"}
    sent = [dataworks.message("INSERT", primary_key=key, after=row) for key in (("id",), ())]
    rows = [(cw.encode(message), offset) for offset, message in enumerate(sent)]
    names: dict[str, Any] = {"messages": spark.createDataFrame(rows, "value binary, offset long")}
    for block in blocks("docs/auto-cdc.md"):
        exec(block, names)  # noqa: S102 - our own text
    assert [row["offset"] for row in names["kept"].collect()] == [1]


def test_links_lead_somewhere() -> None:
    """Every link is a file beside the page."""
    for link in re.findall(r"\]\(([^)#]+)", TEXT):
        assert (PAGE.parent / link).exists()
