"""The code of docs/guides/python.md runs, from top to bottom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.docs.pages import ROOT
from tests.docs.running import run_page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = ROOT / "examples" / "lindorm_json"


def test_the_page_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spark and Arrow count the messages of the example alike; the stream lands its own."""
    values = (EXAMPLES / "document.jsonl").read_bytes().splitlines()
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(pa.table({"value": values}), folder / "0.parquet")
    known = {"folder": str(folder), "lake": str(tmp_path / "lake")}
    known["inputs"] = str(EXAMPLES / "customers.kcat.jsonl")
    names = run_page("docs/guides/python.md", tmp_path, known, ["Messages as a table"])
    assert names["spark"] is spark
    assert names["found"].counts.as_dict() == names["counts"].as_dict()
    assert len(names["messages"]) == names["counts"].valid
    assert f"messages={len(values)}" in capsys.readouterr().out
