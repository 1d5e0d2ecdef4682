"""The histories on the page of tables end in the rows that stand below them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import blocks
from tests.runtime.tables.histories import applied, change, placed, rows

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
TEXT = PAGE.read_text(encoding="utf-8")
Cells = list[dict[str, str]]


def tables(text: str) -> Iterator[Cells]:
    """Yield the tables of a text, a dictionary for each row."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()]
        yield [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]


def histories() -> list[tuple[Cells, Cells]]:
    """Return each table of changes with that of the rows after them."""
    found = list(tables(TEXT))
    return [(one, found[at + 1]) for at, one in enumerate(found) if "op" in one[0]]


def columns(cell: str) -> dict[str, Any]:
    """Return the columns in a cell: ``a=1, b=2``."""
    pairs = (part.split("=") for part in cell.split(", ") if part)
    return {name: int(value) for name, value in pairs}


def made(row: dict[str, str]) -> Any:
    """Return the change that a row of a table stands for."""
    major, _, minor = row["sequence"].partition(".")
    before = columns(row.get("before", ""))
    return change(
        row["op"],
        int(row["id"]) if row["id"] else None,
        (int(major), int(minor or 1)) if major else None,
        old=int(row["before_key"]) if row.get("before_key") else None,
        image=row.get("image") or "full",
        before=before or None,
        is_lone=bool(before) and not row["after"],
        **columns(row["after"]),
    )


def test_the_examples_run() -> None:
    """Each block does what it asserts."""
    names: dict[str, Any] = {}
    for block in blocks("docs/tables.md"):
        exec(block, names)  # noqa: S102 - our own text


@pytest.mark.parametrize("at", range(len(histories())))
def test_histories(at: int) -> None:
    """Forwards, backwards, one by one and as one batch they give the rows below."""
    history, after = histories()[at]
    expected = [{name: int(cell) for name, cell in row.items() if cell} for row in after]
    read = placed(*map(made, history))
    one_by_one = [[one] for one in read]
    deliveries = [[read], one_by_one]
    if all(row["sequence"] for row in history):
        deliveries += [[read[::-1]], one_by_one[::-1]]
    for batches in deliveries:
        assert rows(applied(*batches, apply_as_truncates=True)[0]) == expected


def test_every_rule_has_a_history() -> None:
    """No section about rows is without one."""
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    without = [text.partition("\n")[0] for text in sections if "\n| op |" not in text]
    assert without == ["Many tables", "What is counted", "Row metadata"]


def test_counts_are_listed() -> None:
    """The page names what applying counts."""
    source = Path(__file__).parents[2] / "runtime" / "changewire" / "tables"
    code = "".join(path.read_text(encoding="utf-8") for path in source.glob("*.py"))
    for name in re.findall(
        r"^\| `([a-z_]+)` \|", TEXT.partition("## What is counted")[2], re.MULTILINE
    ):
        assert name in code
