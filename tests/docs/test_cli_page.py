"""The page of the command line has every command, and its examples are those of the program."""

import re
from pathlib import Path

import pytest
from tests.docs.pages import blocks
from tests.support.commands import calls, group, parse

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROW = r"^\| \[`([a-z-]+)`\]\(#([a-z-]+)\) \| .+ \| `changewire ([^`]+)` \|$"
ROWS = re.findall(ROW, TEXT, re.MULTILINE)


def test_every_command_has_a_row() -> None:
    """The table lists the commands in the order of the program's own help."""
    assert [name for name, _, _ in ROWS] == list(group().commands)


@pytest.mark.parametrize(("name", "anchor", "example"), ROWS, ids=[row[0] for row in ROWS])
def test_rows_link_to_a_section_and_show_a_call(name: str, anchor: str, example: str) -> None:
    """The link of a row leads to a heading, and its example is right usage."""
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert anchor in {heading.lower().replace(",", "").replace(" ", "-") for heading in headings}
    (words,) = calls(f"changewire {example}")
    assert words[0] == name
    parse(words)


def test_python_on_the_page_runs() -> None:
    """The examples in Python do what they assert."""
    for block in blocks("docs/reference/cli.md"):
        exec(block, {})  # noqa: S102 - our own text
