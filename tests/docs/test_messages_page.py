"""The code of docs/guides/python.md runs, from top to bottom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.docs.pages import ROOT
from tests.docs.running import run_page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = ROOT / "examples" / "lindorm_json"


def test_the_page_runs(spark: SparkSession, tmp_path: Path) -> None:
    """Spark and Arrow count the messages of the example alike."""
    known = {"inputs": str(EXAMPLES / "customers.kcat.jsonl")}
    names = run_page("docs/guides/python.md", tmp_path, known, ["Messages as a table"])
    assert names["spark"] is spark
    assert names["found"].counts.as_dict() == names["counts"].as_dict()
    assert len(names["messages"]) == names["counts"].valid
