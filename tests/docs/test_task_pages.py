"""The tutorial and the pages of tasks are followed from top to bottom, as a reader would."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.docs.pages import ROOT, blocks
from tests.docs.running import run_page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ACCOUNTS = ROOT / "examples" / "dataworks_json" / "accounts.kcat.jsonl"
TUTORIAL = "docs/start/first-table.md"


def test_the_first_table(spark: SparkSession, tmp_path: Path) -> None:
    """Messages, log and both tables are those that the tutorial promises."""
    names = run_page(TUTORIAL, tmp_path)
    assert names["spark"] is spark
    assert (tmp_path / "lake" / "report.html").exists()


def test_a_new_topic(tmp_path: Path) -> None:
    """Each command shows of a topic what the page shows."""
    shutil.copy(ACCOUNTS, tmp_path / "topic.jsonl")
    run_page("docs/start/own-topic.md", tmp_path)


def test_dead_letters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message of the tutorial is found, reported as the page says, and fixed."""
    text = blocks(TUTORIAL, "sh")[0]
    lines = re.findall(r"^\{.*\}$", text, re.MULTILINE)
    (tmp_path / "topic.jsonl").write_text("\n".join(lines), encoding="utf-8")
    page = "docs/guides/dead-letters.md"
    names = run_page(page, tmp_path)
    assert f"# {capsys.readouterr().out.strip()}\n" in blocks(page)[0]
    assert json.loads(names["mended"])["gen"] == 1


def test_upgrade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The schemas are kept, and the report of a rehearsal has its version and its counts."""
    shutil.copy(ACCOUNTS, tmp_path / "topic.jsonl")
    run_page("docs/guides/rebuild.md", tmp_path)
    assert capsys.readouterr().out.startswith("0.")
    kept = json.loads((tmp_path / "before" / "dataworks_json.json").read_bytes())
    assert {"x-family", "$defs"} <= kept.keys()
