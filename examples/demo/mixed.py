"""The mixed topic: the first message of each format, and its result."""

from typing import Final

from examples.demo.outputs import Row, record_of, rows_of, table_name
from examples.demo.screen import grid, indented, title
from rich.console import Console
from rich.text import Text

import changewire as cw
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.outcome import Outcome

_SHOWN: Final = 24
"""Bytes of a message that are shown."""


def show(console: Console, outcome: Outcome) -> None:
    """Show one record of each format, and one of no format."""
    title(console, "One topic, every format")
    table = grid(">Offset", "Begins with", "Format", "Result")
    seen = set[str | None]()
    for row in rows_of(outcome):
        value = record_of(row).value
        found = None if value is None else cw.detect(value)
        if value is None or found in seen:
            continue
        seen.add(found)
        begin = Text(ascii(value[:_SHOWN])[2:-1], style="dim")
        table.add_row(str(row["offset"]), begin, found or "none", Text(_fate(row)))
    console.print(table)
    indented(console, "No format was named: it was detected for each message.")


def _fate(row: Row) -> str:
    """Describe the result of a message in words."""
    if row["kind"] == DEAD_LETTER:
        return f"dead letter: {row['code']}"
    return f"{row['op']} of {table_name(row['source'])}"
