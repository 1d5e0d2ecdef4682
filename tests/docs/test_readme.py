"""The README's code does what it says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from deltalake import DeltaTable
from tests.docs.pages import ROOT, all_blocks, blocks, links
from typer.testing import CliRunner

from changewire.cli.app import app
from changewire.cli.ending import REJECTED, VALID

README = "README.md"


def test_the_first_example_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python example runs; the comment below its print is the output."""
    code = blocks(README)[0]
    exec(code, {})  # noqa: S102 - our own text
    assert capsys.readouterr().out.strip() == code.strip().rpartition("# ")[2]


def test_captured_messages_become_tables_by_the_command_of_a_topic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a file instead of a topic, the command makes the log, the table and the report."""
    monkeypatch.chdir(tmp_path)
    (command,) = (b.code for b in all_blocks(README) if "--kafka" in b.code)
    words = shlex.split(command.replace("\\\n", " "))
    words[1] = "run"
    for option in ("--kafka", "--subscribe"):
        place = words.index(option)
        del words[place : place + 2]
    captured = ROOT / "examples" / "dataworks_json" / "items.jsonl.gz"
    assert CliRunner().invoke(app, [*words[1:], str(captured)]).exit_code in {VALID, REJECTED}
    assert DeltaTable("lake/log").to_pyarrow_table().num_rows
    (table,) = Path("lake/tables").glob("*/*/_delta_log")
    assert DeltaTable(table.parent).to_pyarrow_table().num_rows
    assert Path("lake/report.html").exists()


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
