"""The code of docs/guides/without-spark.md runs, and its table is what the tools say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.docs.running import run_page
from tests.samples import MIXED_COUNTS, mixed_messages

PAGE = "docs/guides/without-spark.md"


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each block runs after the one before it, with pandas, Polars and DuckDB."""
    monkeypatch.chdir(tmp_path)
    lines = [message for message in mixed_messages() if message]
    bins = [{"name": "age", "type": "int", "value": 41}]
    user = {"msg": "write", "key": ["shop", "users", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1]}
    text = json.dumps({**user, "gen": 1, "exp": 0, "lut": 0, "bins": bins})
    Path("topic.jsonl").write_bytes(b"\n".join([*lines, text.encode()]))
    names = run_page(PAGE, tmp_path, sections=["Arrow, pandas, Polars, DuckDB"])
    changes = MIXED_COUNTS["changes"] + 1
    assert len(names["frame"]) == names["pq"].read_table("changes.parquet").num_rows == changes
    assert len(names["letters"]) == MIXED_COUNTS["dead_letters"]
    assert names["table"].column("after").to_pylist()[-1] == {
        "name": None,
        "age": 41,
        "photo": None,
    }
    assert "41" in capsys.readouterr().out
