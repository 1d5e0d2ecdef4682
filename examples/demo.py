"""Show what changewire does: two days of Aerospike messages become tables, and nothing is lost.

``nox -s demo`` runs this, or ``python examples/demo.py [FOLDER]`` where changewire is installed.
Tables and report are written to the folder, or to ``build/demo/`` below the working directory.
"""

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from changewire.engines.outcome import Outcome
from changewire.framing import read
from changewire.job import run

INPUTS: Final = Path(__file__).resolve().parent / "aerospike_json"
OUTPUT: Final = Path("build", "demo")
FORMAT: Final = "aerospike-json"

Row = dict[str, Any]


def main(arguments: Sequence[str]) -> None:
    """Run the main job on the examples and show what came of it."""
    output = Path(arguments[0]) if arguments else OUTPUT
    output.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    console.width = min(console.width, 100)
    notes: list[str] = []
    with console.status("Reading messages …"), stderr_to(output / "engine.log"):
        outcome = run([str(INPUTS)], str(output), format=FORMAT, notice=notes.append)
    show(console, outcome, notes)


@contextmanager
def stderr_to(path: Path) -> Generator[None, None, None]:
    """Keep what Spark's JVM says while it starts in a file: Python cannot stop it from talking."""
    sys.stderr.flush()
    kept = os.dup(2)
    with path.open("wb") as log:
        os.dup2(log.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


def show(console: Console, outcome: Outcome, notes: Sequence[str]) -> None:
    """Print the screen, top to bottom."""
    output = Path(outcome.output)
    changes = in_order(rows_of(output / "changes"))
    show_head(console, outcome, notes)
    show_tables(console, outcome, changes)
    show_changes(console, changes)
    show_dead_letters(console, in_order(rows_of(output / "dead_letters")))
    show_next(console, output)


def rows_of(folder: Path) -> list[Row]:
    """Return the rows of an output, whichever engine wrote it."""
    rows: list[Row] = pq.read_table(folder).to_pylist()
    return rows


def in_order(rows: list[Row]) -> list[Row]:
    """Return rows by the place that they came from."""
    return sorted(rows, key=lambda row: (row["path"], row["number"], row["element"]))


def show_head(console: Console, outcome: Outcome, notes: Sequence[str]) -> None:
    """Say in a sentence what has happened, and show that nothing was lost."""
    counts = outcome.counts
    files = sum(1 for _ in INPUTS.iterdir())
    sentence = (
        f"changewire read {counts.messages:,} messages that Aerospike put on Kafka, from {files} "
        "files, checked every one against its schema, and wrote tables of the changes."
    )
    console.print("", Text(sentence, style="bold"), "", sep="\n")
    equation = (
        f"{counts.elements:,} elements = [green]{counts.changes:,} changes[/] + "
        f"{counts.controls:,} control events + [red]{counts.dead_letters:,} dead letters[/]"
    )
    indented(console, equation)
    note = (
        "Every element of a message or batch ends as one of the three; this was checked before "
        f"the tables were written. {outcome.engine.capitalize()}, {outcome.seconds:.1f} seconds."
    )
    indented(console, note, "dim")
    for text in notes:
        indented(console, text, "yellow")


def show_tables(console: Console, outcome: Outcome, changes: list[Row]) -> None:
    """Show how many changes there are of each table, and what had to be tolerated."""
    title(console, "What came out")
    grouped: dict[str, list[Row]] = defaultdict(list)
    for change in changes:
        grouped[table_name(change["source"])].append(change)
    table = grid("Table", ">Upserts", ">Deletes", ">Rows", "Latest event (UTC)")
    for name, group in sorted(grouped.items(), key=lambda item: -len(item[1])):
        ops = Counter(change["op"] for change in group)
        times = [change["event_time"] for change in group if change["event_time"]]
        rows = len({change["key"] for change in group})
        latest = f"{max(times):%Y-%m-%d %H:%M}" if times else "-"
        table.add_row(name, f"{ops['upsert']:,}", f"{ops['delete']:,}", f"{rows:,}", latest)
    console.print(table)
    used = ", ".join(f"{name} {uses:,}" for name, uses in outcome.counts.leniencies.most_common())
    note = f"Tolerated and counted, as real messages differ from the document: {used}."
    indented(console, note)


def table_name(source: Row) -> str:
    """Return the name of a table; most deletes leave out the set of the record."""
    return f"{source['database']}.{source['table'] or '(set not sent)'}"


def show_changes(console: Console, changes: list[Row]) -> None:
    """Show a write with the message that it came as, a delete, and what is unusual."""
    title(console, "Three changes in full")
    write = next(row for row in changes if row["path"].endswith("users.jsonl"))
    delete = next(row for row in changes if row["op"] == "delete" and row["source"]["table"])
    odd = next(row for row in changes if row["topic"] and "quoted-non-finite" in row["leniencies"])
    indented(console, f"A write: the message ({place(write)}) and its change", "bold")
    console.print(Padding(Text(message_of(write), overflow="fold", style="dim"), (0, 2, 0, 4)))
    show_change(console, write)
    indented(console, f"A delete ({place(delete)})", "bold")
    show_change(console, delete)
    indented(console, f"A measurement that is not a number ({place(odd)})", "bold")
    show_change(console, odd)


def message_of(row: Row) -> str:
    """Return the message that a change came in, as it stands in its file."""
    record = next(islice(read(row["path"]), row["number"], None))
    return (record.value or b"").decode()


def place(row: Row) -> str:
    """Return file and number of the record that a row came in."""
    return f"{Path(row['path']).name} {row['number']}"


def show_change(console: Console, row: Row) -> None:
    """Print one change, a property a line; those that are null are left out."""
    properties = Table.grid(padding=(0, 2))
    properties.add_column(no_wrap=True, style="cyan")
    properties.add_column(overflow="fold")
    for name, value in shown(row).items():
        properties.add_row(name, Text(value, overflow="fold"))
    console.print(Padding(properties, (0, 2, 1, 4), expand=False))


def shown(row: Row) -> dict[str, str]:
    """Return the properties of a change that are not null, as text."""
    sequence, names = row["sequence"], ("op", "key", "after", "attributes")
    found = {name: row[name] for name in names}
    found["source"] = f"{row['source']['system']}, {table_name(row['source'])}"
    found["event_time"] = row["event_time"] and f"{row['event_time']:%Y-%m-%d %H:%M:%S.%f} UTC"
    found["sequence"] = sequence and f"{sequence['major']}, {sequence['minor']}"
    found["leniencies"] = ", ".join(row["leniencies"])
    order = ("op", "source", "key", "after", "event_time", "sequence", "attributes", "leniencies")
    return {name: found[name] for name in order if found[name]}


def show_dead_letters(console: Console, letters: list[Row]) -> None:
    """Show the dead letters by reason, with the first one of each."""
    title(console, "Dead letters by reason")
    counts = Counter(letter["code"] for letter in letters)
    table = grid(">", "Reason", "The first one")
    for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        first = next(letter for letter in letters if letter["code"] == code)
        table.add_row(str(count), Text(code, style="red"), Text(sentence(first)))
    console.print(table)
    indented(console, "Each keeps its message and its place, so it can be mended and read again.")


def sentence(letter: Row) -> str:
    """Return the first reason of a dead letter, without format and code."""
    text: str = letter["message"].removeprefix(f"{FORMAT}: ")
    return text.replace(f" ({letter['code']})", "").removeprefix("at ")


def show_next(console: Console, output: Path) -> None:
    """Say where everything lies and what to try next."""
    title(console, "Where it lies, and what to try next")
    lies = Table.grid(padding=(0, 2))
    lies.add_column()
    lies.add_column(overflow="fold")
    lies.add_row("Report", str(output / "report.html"))
    lies.add_row("Tables", f"{output}/changes, controls, dead_letters (Parquet)")
    console.print(Padding(lies, (0, 2, 1, 2), expand=False))
    users = os.path.relpath(INPUTS / "users.jsonl")
    for command in (
        f"changewire validate -f {FORMAT} {users}",
        f"changewire changes -f {FORMAT} {users} | head",
        "python examples/quickstart.py",
    ):
        indented(console, f"$ {command}", "bold")
    console.print()


def indented(console: Console, text: str, style: str = "") -> None:
    """Print a paragraph."""
    console.print(Padding(Text.from_markup(text), (0, 2), style=style, expand=False))


def title(console: Console, text: str) -> None:
    """Print a heading."""
    console.print()
    console.rule(Text(f" {text} ", style="bold"), align="left", style="dim")
    console.print()


def grid(*columns: str) -> Table:
    """Return a table; a name that begins with ``>`` is of a column of numbers."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for name in columns:
        table.add_column(name.removeprefix(">"))
        if name.startswith(">"):
            table.columns[-1].justify = "right"
    return table


if __name__ == "__main__":
    main(sys.argv[1:])
