"""The code of docs/messages.md runs, from top to bottom."""

from __future__ import annotations

import shutil
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


@pytest.mark.usefixtures("interpreted")
def test_the_page_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spark and Arrow count the messages of the example alike; the stream lands its own."""
    shutil.copy(EXAMPLES / "customers.kcat.jsonl", tmp_path / "topic.jsonl")
    values = (EXAMPLES / "document.jsonl").read_bytes().splitlines()
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    pq.write_table(pa.table({"value": values}), inputs / "0.parquet")
    known = {"spark": spark, "inputs": str(inputs), "lake": str(tmp_path / "lake")}
    names = run_page("docs/messages.md", tmp_path, known)
    assert names["found"].counts.as_dict() == names["counts"].as_dict()
    assert len(names["messages"]) == names["counts"].valid
    assert f"batch 0: {len(values)} messages" in capsys.readouterr().out
