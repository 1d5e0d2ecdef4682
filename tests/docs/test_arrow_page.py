"""The code of docs/guides/without-spark.md runs, and its table is what the tools say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.pages import tutorial_messages
from tests.docs.running import run_page

PAGE = "docs/guides/without-spark.md"


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each block runs after the one before it, with pandas, Polars and DuckDB."""
    monkeypatch.chdir(tmp_path)
    Path("topic.jsonl").write_text("\n".join(tutorial_messages()), encoding="utf-8")
    names = run_page(PAGE, tmp_path, sections=["Arrow, pandas, Polars, DuckDB"])
    assert len(names["frame"]) == names["pq"].read_table("changes.parquet").num_rows == 5
    assert len(names["letters"]) == 1
    after = names["table"].column("after").to_pylist()
    assert after[0] == {"name": "Ann", "age": 41, "photo": None}
    assert len(names["steps"]) == 3
    assert "42" in capsys.readouterr().out
