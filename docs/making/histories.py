"""The histories on the page of tables: read from it, and applied change by change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
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

PAGE: Final = Path(__file__).parents[1] / "tables.md"

Cells = list[dict[str, str]]

_NOW: Final = datetime(2026, 1, 1, tzinfo=timezone.utc)
_ROUTING: Final = Routing(template_of("{table}"))


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
        verdicts: Its results.
        rows: Rows of the table by their key.
        tombstones: Tombstones by their key, each with the sequence of its delete.
        floor: Sequence of the table's truncate; empty without one.
    """

    cells: dict[str, str]
    verdicts: Sequence[str]
    rows: dict[int, dict[str, Any]]
    tombstones: dict[int, str]
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
    image = {"image": row.get("image") or "full"} if kind != "delete" else {}
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
    tables = MemoryTables()
    for offset, cells in enumerate(history.changes):
        placed = PositionedChange(change(cells), ChangePosition("topic", 0, offset, 0))
        result = apply_changes(tables, [placed], _ROUTING, _NOW, apply_as_truncates=True)
        verdicts = [name.replace("_", " ") for name in result.counts]
        (table,) = tables.tables.values()
        rows = {row["id"]: row for row in sorted(table.content(), key=lambda row: row["id"])}
        graves = {
            grave.key["id"]: sequence_text(grave.state.order.sequence)
            for grave in table.tombstones.values()
        }
        yield Step(cells, verdicts, rows, graves, sequence_text(table.truncated.sequence))


def sequence_text(numbers: Sequence[int]) -> str:
    """Return a sequence as a page has it: without its minor number if that is 1."""
    if not numbers:
        return ""
    major, minor = numbers
    return str(major) if minor == 1 else f"{major}.{minor}"
