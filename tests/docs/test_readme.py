"""The README's code does what it says."""

from __future__ import annotations

import re
import shlex
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable
from tests.docs.pages import ROOT, all_blocks, blocks, links
from tests.runtime.changes.dataworks import message
from tests.support.topics import create, produce
from typer.testing import CliRunner

import changewire as cw
from changewire.cli.app import app
from changewire.cli.ending import VALID
from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

README = "README.md"


def test_the_first_example_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python example runs; the comment below its print is the output."""
    code = blocks(README)[0]
    exec(code, {})  # noqa: S102 - our own text
    assert capsys.readouterr().out.strip() == code.strip().rpartition("# ")[2]


TYPES = {"id": "LONG", "price": "DOUBLE", "note": "STRING", "day": "DATE"}
MIDNIGHT = 1731600000000
"""Of 15 November 2024 in Shanghai."""

CHANGES = [
    message("INSERT", TYPES, after={"id": 1, "price": "9.90", "note": None, "day": MIDNIGHT}),
    message("INSERT", TYPES, after={"id": 2, "price": None, "note": "new", "day": None}),
]
MESSAGES = [*map(cw.encode, CHANGES), cw.encode(CHANGES[0]).replace(b'"0.0.1"', b"1")]
"""Messages with a decimal as text, with nulls, and with a wrong type."""

COLUMNS = {"id": "int64", "price": "double", "note": "string", "day": "timestamp[us, tz=UTC]"}


def command() -> list[str]:
    """Return the words of the first command, which makes tables of a topic."""
    (code,) = (block.code for block in all_blocks(README) if "--kafka" in block.code)
    return shlex.split(code.replace("\\\n", ""))


def check(folder: Path) -> None:
    """Look at what the README says that one gets: a table in columns, the log and the report."""
    table = DeltaTable(folder / "lake" / "tables" / "shop" / "users").to_pyarrow_table()
    assert {name: str(table.schema.field(name).type) for name in COLUMNS} == COLUMNS
    day = datetime.fromtimestamp(MIDNIGHT / 1000, timezone.utc)
    rows = {tuple(row.values()) for row in table.select(list(COLUMNS)).to_pylist()}
    assert rows == {(1, 9.9, None, day), (2, None, "new", None)}
    log = DeltaTable(folder / "lake" / "log").to_pyarrow_table()
    assert sorted(log["kind"].to_pylist()) == ["change", "change", "dead_letter"]
    assert any("2024-11-15T00:00:00+08:00" in str(row) for row in log["after"].to_pylist())
    assert folder.joinpath("lake", "report.html").exists()


def test_captured_messages_become_tables_in_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command for files, with the options that the README says are the same."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / README).read_text(encoding="utf-8")
    ((run, named),) = re.findall(r"`(changewire run .*?) FILES` with the same (.*?)[.]", text)
    of_topic, words = command(), shlex.split(run)
    for option in re.findall(r"--[a-z-]+", named):
        words += [option, of_topic[of_topic.index(option) + 1]]
    Path("topic.jsonl").write_bytes(b"\n".join(MESSAGES))
    assert CliRunner().invoke(app, [*words[1:], "topic.jsonl"]).exit_code == VALID
    check(tmp_path)


def test_a_topic_becomes_tables_in_columns(
    spark: SparkSession, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first command, on a topic of its own of a real broker, in the Spark of the tests."""
    assert spark is not None
    monkeypatch.chdir(tmp_path)
    topic = tmp_path.name
    create(kafka, topic)
    position = Position(topic=topic, partition=0)
    produce(kafka, [Record(None, value, position) for value in MESSAGES])
    there = {"HOST:PORT": kafka, "orders": topic}
    ended = CliRunner().invoke(app, [there.get(word, word) for word in command()[1:]])
    assert ended.exit_code == VALID, ended.output
    check(tmp_path)


def test_ci_runs_the_test_command() -> None:
    """Continuous integration calls the README's command and nothing else."""
    commands = [line for block in blocks(README, "sh") for line in block.splitlines()]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert [c for c in commands if c in script.splitlines() and "nox" in c] == commands


@pytest.mark.parametrize(
    "file",
    sorted({link.partition("#")[0] for link in links(README)}),
)
def test_links_lead_somewhere(file: str) -> None:
    """Every relative link of the README is a file or folder of the repository."""
    assert (ROOT / file).exists()
