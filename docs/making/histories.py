"""The histories on the page of tables: read from it, and applied change by change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import changewire as cw
from changewire.tables import (
    ChangePosition,
    MemoryTables,
    PositionedChange,
    Routing,
    apply_changes,
    template_of,
)

PAGE: Final = Path(__file__).parents[1] / "concepts" / "tables.md"

Cells = list[dict[str, str]]

_ROUTING: Final = Routing(template_of("{table}"))


NO_EFFECT: Final = "no effect"
WAITS: Final = "waits"
_WORDS: Final = {"waiting_before_images": WAITS}
_NOTHING: Final[tuple[dict[int, Any], dict[int, str], str]] = ({}, {}, "")


class History(NamedTuple):
    """A table of changes on the page, and the table of rows below it.

    Attributes:
        name: The heading that it stands below, and its number where that has several.
        changes: The changes, in the order in which they arrive.
        rows: The rows after them.
    """

    name: str
    changes: Cells
    rows: Cells


class Step(NamedTuple):
    """One change of a history, and the table after it.

    Attributes:
        cells: The change, as the page has it.
        verdicts: What became of it.
        rows: Rows of the table by their key.
        deleted: Sequences of deletes by the keys of deleted rows.
        floor: Sequence of the table's truncate; empty without one.
    """

    cells: dict[str, str]
    verdicts: Sequence[str]
    rows: dict[int, dict[str, Any]]
    deleted: dict[int, str]
    floor: str


def histories(page: Path = PAGE) -> Iterator[History]:
    """Yield the histories of a page."""
    text = page.read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        found = list(_tables(body))
        pairs = [(one, found[at + 1]) for at, one in enumerate(found) if "op" in one[0]]
        for number, (changes, rows) in enumerate(pairs, 1):
            name = title.lower().replace(" ", "-") + (f"-{number}" if len(pairs) > 1 else "")
            yield History(name, changes, rows)


def _tables(text: str) -> Iterator[Cells]:
    """Yield the tables of a text, a dictionary for each row."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()]
        yield [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]


def change(row: dict[str, str]) -> cw.Change:
    """Return the change that a row of a table stands for."""
    kind: Any = row["op"]
    before = _columns(row.get("before", "")) or None
    key = {"id": int(row["id"])} if row["id"] else None
    has_after = kind != "delete" and not (before and not row["after"])
    major, _, minor = row["sequence"].partition(".")
    image = {"row_image": row.get("row_image") or "full"} if kind != "delete" else {}
    return cw.Change(
        op=kind,
        source=cw.Source(system="s", database="d", schema=None, table="t"),
        key=key,
        before_key={"id": int(row["before_key"])} if row.get("before_key") else None,
        before=before,
        after={**(key or {}), **_columns(row["after"])} if has_after else None,
        event_time=None,
        sequence=cw.Sequence(major=int(major), minor=int(minor or 1)) if major else None,
        ddl=None,
        schema_fingerprint=None,
        attributes=image,
    )


def _columns(cell: str) -> dict[str, Any]:
    """Return the columns in a cell: ``a=1, b=2``."""
    pairs = (part.split("=") for part in cell.split(", ") if part)
    return {name: int(value) for name, value in pairs}


def steps(history: History) -> Iterator[Step]:
    """Apply a history one change after the other; yield what each did."""
    tables, before = MemoryTables(), _NOTHING
    for offset, cells in enumerate(history.changes):
        placed = PositionedChange(change(cells), ChangePosition("topic", 0, offset, 0))
        result = apply_changes(tables, [placed], _ROUTING, apply_truncates=True)
        found = [_WORDS.get(name, name.replace("_", " ")) for name in result.counts]
        (table,) = tables.tables.values()
        rows = {row["id"]: row for row in sorted(table.content(), key=lambda row: row["id"])}
        deleted = {
            entry.key["id"]: sequence_text(entry.state.order.sequence)
            for entry in table.entries.values()
            if entry.state.values is None
        }
        now = (rows, deleted, sequence_text(table.truncated.sequence))
        # A delete of a row that is not there is remembered, and counted nowhere.
        verdicts = found or [NO_EFFECT if now == before else "deleted"]
        yield Step(cells, verdicts, *now)
        before = now


def sequence_text(numbers: Sequence[int]) -> str:
    """Return a sequence as a page has it: without its minor number if that is 1."""
    if not numbers:
        return ""
    major, minor = numbers
    return str(major) if minor == 1 else f"{major}.{minor}"
