"""The page of the command line has every command, and its examples are those of the program."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.docs.pages import blocks

from changewire.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROW = r"^\| \[`([a-z]+)`\]\(#([a-z-]+)\) \| .+ \| `changewire ([^`]+)` \|$"
ROWS = re.findall(ROW, TEXT, re.MULTILINE)
GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = GROUP.commands


def test_every_command_has_a_row() -> None:
    """The table lists the commands in the order of the program's own help."""
    assert [name for name, _, _ in ROWS] == list(COMMANDS)


@pytest.mark.parametrize(("name", "anchor", "example"), ROWS, ids=[row[0] for row in ROWS])
def test_rows_link_to_a_section_and_show_a_call(name: str, anchor: str, example: str) -> None:
    """The link of a row leads to a heading, and the options of its example exist."""
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert anchor in {heading.lower().replace(",", "").replace(" ", "-") for heading in headings}
    command, *words = shlex.split(example.partition(">")[0])
    assert command == name
    known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_python_on_the_page_runs() -> None:
    """The examples in Python do what they assert."""
    for block in blocks("docs/cli.md"):
        exec(block, {})  # noqa: S102 - our own text
