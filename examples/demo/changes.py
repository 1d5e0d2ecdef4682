"""The middle of the screen: one complete change of each format, with its message."""

from collections.abc import Callable, Mapping
from typing import Final

from examples.demo.outputs import Row, place, record_of, rows_of, table_name
from examples.demo.screen import indented, title
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from changewire.engines.layout import CHANGE
from changewire.engines.outcome import Outcome

_CHOICES: Final[Mapping[str, tuple[str, Callable[[Row], bool]]]] = {
    "aerospike_flat_json": ("a write", lambda row: row["path"].endswith("users.jsonl")),
    "aerospike_json": ("a write", lambda row: row["path"].endswith("users.jsonl")),
    "aerospike_msgpack": ("a write, its bytes in hex", lambda row: row["op"] == "upsert"),
    "dataworks_json": (
        "an update of the key",
        lambda row: row["before_key"] is not None and "numeric-text" in row["leniencies"],
    ),
    "lindorm_json": (
        "an update, typed by its embedded schema",
        lambda row: row["op"] == "update" and row["schema_fingerprint"] and row["key"],
    ),
}
"""What is shown of each folder, and how its row is found."""

_BEGIN: Final = 111
_END: Final = 444
"""Characters of a long message that are shown; of bytes in hex, three for each."""


def show(console: Console, outcomes: Mapping[str, Outcome]) -> None:
    """Show the messages and their changes."""
    title(console, "One complete change of each format")
    for folder, (what, fits) in _CHOICES.items():
        outcome = outcomes[folder]
        row = next(filter(fits, rows_of(outcome, CHANGE)))
        indented(console, f"{outcome.format}: {what} ({place(row)}), and its change", "bold")
        message = Text(_message(row), overflow="fold", style="dim")
        console.print(Padding(message, (0, 2, 0, 4)))
        _show_change(console, row)


def _message(row: Row) -> str:
    """Return the message of a change; only the beginning and the end of a long one."""
    value = record_of(row).value or b""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = value.hex(" ")
    return text if len(text) <= _BEGIN + _END else f"{text[:_BEGIN]} … {text[-_END:]}"


def _show_change(console: Console, row: Row) -> None:
    """Print one change, a property a line, without the properties that are null."""
    properties = Table.grid(padding=(0, 2))
    properties.add_column(no_wrap=True, style="cyan")
    properties.add_column(overflow="fold")
    for name, value in _shown(row).items():
        properties.add_row(name, Text(value, overflow="fold"))
    console.print(Padding(properties, (0, 2, 1, 4), expand=False))


def _shown(row: Row) -> dict[str, str]:
    """Return the properties of a change that are not null, as text."""
    sequence, time = row["sequence"], row["event_time"]
    found = {
        "op": row["op"],
        "source": f"{row['source']['system']}, {table_name(row['source'])}",
        **{name: row[name] for name in ("key", "before_key", "before", "after")},
        "event_time": time and f"{time:%Y-%m-%d %H:%M:%S.%f} UTC",
        "sequence": sequence and f"{sequence['major']}, {sequence['minor']}",
        "attributes": row["attributes"],
        "leniencies": ", ".join(row["leniencies"]),
    }
    return {name: value for name, value in found.items() if value}
