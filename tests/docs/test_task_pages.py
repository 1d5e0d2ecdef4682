"""The tutorial and the pages of tasks are followed from top to bottom, as a reader would."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from deltalake import DeltaTable
from tests.docs.pages import ROOT, blocks, tutorial_messages
from tests.docs.running import run_page

ACCOUNTS = ROOT / "examples" / "dataworks_json" / "accounts.kcat.jsonl"
ITEMS = ACCOUNTS.with_name("items.jsonl.gz")
TUTORIAL = "docs/start/first-table.md"


def test_the_landing_page(tmp_path: Path) -> None:
    """The command of the first page makes the table that it shows."""
    (tmp_path / "items.jsonl").write_bytes(gzip.decompress(ITEMS.read_bytes()))
    run_page("docs/index.md", tmp_path)


def test_the_first_table(tmp_path: Path) -> None:
    """Messages, table, traces and letters are those that the tutorial shows."""
    run_page(TUTORIAL, tmp_path)
    assert (tmp_path / "lake" / "report.html").exists()


def test_a_new_topic(tmp_path: Path) -> None:
    """Each command shows of a topic what the page shows."""
    page = "docs/start/own-topic.md"
    (tmp_path / "topic.jsonl").write_bytes(gzip.decompress(ITEMS.read_bytes()))
    (settings,) = blocks(page, "toml")
    (tmp_path / "settings.toml").write_text(settings, encoding="utf-8")
    run_page(page, tmp_path)
    items = DeltaTable(tmp_path / "lake" / "tables" / "shop" / "items").to_pyarrow_table()
    assert [str(items.schema.field(name).type) for name in ("price", "made")] == [
        "decimal128(12, 2)",
        "date32[day]",
    ]


def test_dead_letters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message of the tutorial is found, reported as the page says, and fixed."""
    (tmp_path / "topic.jsonl").write_text("\n".join(tutorial_messages()), encoding="utf-8")
    page = "docs/guides/dead-letters.md"
    names = run_page(page, tmp_path, sections=["Find out why", "Fix a message"])
    assert f"# {capsys.readouterr().out.strip()}\n" in blocks(page)[0]
    assert json.loads(names["mended"])["gen"] == 1


def test_upgrade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The schemas are kept, and the report of a rehearsal has its version and its counts."""
    shutil.copy(ACCOUNTS, tmp_path / "topic.jsonl")
    run_page("docs/guides/rebuild.md", tmp_path, sections=["Upgrade"])
    assert capsys.readouterr().out.startswith("0.")
    kept = json.loads((tmp_path / "before" / "dataworks_json.json").read_bytes())
    assert {"x-family", "$defs"} <= kept.keys()
