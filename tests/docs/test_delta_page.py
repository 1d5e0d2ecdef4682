"""The code of docs/guides/without-spark.md runs, from top to bottom."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from tests.docs.pages import blocks, in_sections, tutorial_messages
from tests.support.topics import create, produce
from typer.testing import CliRunner

from changewire.cli.app import app
from changewire.framing import Position, Record

PAGE = "docs/guides/without-spark.md"
SECTIONS = ("Merge files into Delta tables", "Follow a topic", "Tables from an existing log")

TOPICS = ("delta-users", "delta-orders")
"""Names for those of the page, which other pages give their topics too."""


def content() -> dict[Path, list[Any]]:
    """Return the rows of each table."""
    folders = [*Path("lake", "tables").glob("*/*")]
    return {path: DeltaTable(str(path)).to_pyarrow_table().to_pylist() for path in folders}


def test_the_page_runs(
    kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python makes a log and tables, once; the command then finds everything in the log."""
    monkeypatch.chdir(tmp_path)
    lines = tutorial_messages()
    Path("topic.jsonl").write_text("\n".join(lines), encoding="utf-8")
    create(kafka, *TOPICS)
    at = Position(topic=TOPICS[0], partition=0)
    produce(kafka, [Record(None, line.encode(), at) for line in lines])
    names: dict[str, Any] = {"servers": kafka}
    for block in in_sections(PAGE, *SECTIONS):
        if block.language == "python":
            code = block.code.replace('"users,orders"', repr(",".join(TOPICS)))
            exec(code, names)  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert "1 {'inserted': 1}\n" in printed
    assert "\n1 0\n" in printed
    typed = DeltaTable("typed/tables/shop/users").to_pyarrow_table()
    assert (typed.schema.names[-3:-1], len(typed)) == (["name", "age"], 1)
    rows = content()
    assert any(rows.values())
    command, *_ = blocks(PAGE, "console")
    words = shlex.split(command.removeprefix("$ ").replace("\\\n", ""))
    ended = CliRunner().invoke(app, words[1:], catch_exceptions=False)
    assert ended.exit_code == 0
    assert "already" in ended.stderr
    assert content() == rows
