"""The page of the command line has every command, with a section about it."""

import re
from pathlib import Path

import pytest
from tests.support.commands import group

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROW = r"^\| \[`([a-z-]+)`\]\(#([a-z-]+)\) \| .+ \|$"
ROWS = re.findall(ROW, TEXT, re.MULTILINE)


def test_every_command_has_a_row() -> None:
    """The table lists the commands in the order of the program's own help."""
    assert [name for name, _ in ROWS] == list(group().commands)


@pytest.mark.parametrize(("name", "anchor"), ROWS, ids=[row[0] for row in ROWS])
def test_rows_link_to_a_section(name: str, anchor: str) -> None:
    """The link of a row leads to a heading that names the command."""
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    found = {heading.lower().replace(",", "").replace(" ", "-"): heading for heading in headings}
    assert name in found[anchor].split(", ")
