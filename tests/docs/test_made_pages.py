"""What the site makes of the program and of figures has all of it."""

from __future__ import annotations

import json
import re
from inspect import ismodule

import pytest
from docs.making import commands, names, options, plots
from docs.making.markdown import cell
from tests.docs.pages import ROOT

import changewire as cw

COMMANDS = list(commands.commands())


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_commands_have_their_options(name: str, command: object) -> None:
    """The section of a command has its example, and a row for whatever it takes."""
    section = commands.page().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    taken = [called for called, _ in commands.taken(command)]
    assert re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE) == taken
    assert f"changewire {name}" in section


def test_the_page_of_python_has_every_name() -> None:
    """Whatever the package exports is described, but for modules and the version."""
    page = ROOT.joinpath("docs", "reference", "python.md").read_text(encoding="utf-8")
    names = [name for name in cw.__all__ if not ismodule(getattr(cw, name))]
    assert [n for n in names if not re.search(rf"\b{n}\b", page)] == ["__version__"]


def test_lists_of_names_are_current() -> None:
    """Pages of Python list every function and class with its first sentence."""
    assert not list(names.differences()), "python -m docs.making"
    page = ROOT.joinpath("docs", "reference", "python.md").read_text(encoding="utf-8")
    assert re.search(r"^\| `apply_changes` \| \S.* \|$", page, re.MULTILINE)


def test_options_are_listed_by_name() -> None:
    """Every option of every command has a row that names the command; functions have theirs."""
    of_commands, of_functions = options.page().split("\n## Options of functions\n")
    for name, command in commands.commands():
        for called, each in commands.taken(command):
            rows = [row for row in of_commands.splitlines() if row.startswith(f"| `{each.opts[0]}")]
            is_argument = not called.startswith("-")
            assert is_argument or any(f"`{name}`" in row for row in rows), called
    assert re.search(r"^\| `row_image` \| `'full'` \| .*`cw.changes`", of_functions, re.MULTILINE)


def test_text_stays_text_in_a_cell() -> None:
    """What would be a column, a tag or emphasis in Markdown is none."""
    assert cell("a|b\n<c> kafka.*") == r"a\|b &lt;c> kafka.\*"


def test_each_result_file_has_its_plot() -> None:
    """Each file has a section with its machine, its load and its plot, which the build draws."""
    page = plots.page()
    for path in plots.RESULTS.glob("*.json"):
        found = json.loads(path.read_bytes())
        assert found["machine"] in page
        assert f"{found['load_before']} before" in page
        assert f"](bench-{path.stem}.svg)" in page
