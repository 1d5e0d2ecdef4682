"""Top and end of the screen: the totals, and what to try next."""

import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from examples.demo.outputs import INPUTS
from examples.demo.screen import command, grid, indented, title
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from changewire.engines.outcome import Outcome

_NUMBERS: Final = ("messages", "elements", "changes", "controls", "dead_letters")


def show(console: Console, outcomes: Mapping[str, Outcome]) -> None:
    """Summarize the run in a sentence, and show that nothing was lost."""
    total = Counter[str]()
    for outcome in outcomes.values():
        total.update({name: getattr(outcome.counts, name) for name in _NUMBERS})
    files = sum(1 for folder in outcomes for _ in (INPUTS / folder).iterdir())
    sentence = (
        f"changewire read {total['messages']:,} messages that Aerospike, DataWorks and Lindorm "
        f"write to Kafka, from {files} files, checked every one against its schema, and wrote "
        "a log of each format."
    )
    console.print("", Text(sentence, style="bold"), "", sep="\n")
    equation = (
        f"{total['elements']:,} elements = [green]{total['changes']:,} changes[/] + "
        f"{total['controls']:,} control events + [red]{total['dead_letters']:,} dead letters[/]"
    )
    indented(console, equation)
    engine = next(iter(outcomes.values())).engine.capitalize()
    seconds = sum(outcome.seconds for outcome in outcomes.values())
    note = (
        "Every element of a message or batch becomes one of the three; this was checked while "
        f"the logs were written. {engine}, {seconds:.1f} seconds."
    )
    indented(console, note, "dim")
    _show_table(console, outcomes)


def _show_table(console: Console, outcomes: Mapping[str, Outcome]) -> None:
    """Show the results for each format, and the tolerated deviations."""
    title(console, "Results by format")
    table = grid("Format", *(f">{name.capitalize().replace('_', ' ')}" for name in _NUMBERS))
    used = Counter[str]()
    for outcome in outcomes.values():
        counts = outcome.counts
        numbers = [f"{getattr(counts, name):,}" for name in _NUMBERS]
        table.add_row("mixed topic" if outcome.format == "auto" else outcome.format, *numbers)
        used += counts.leniencies
    console.print(table)
    uses = ", ".join(f"{name} {count:,}" for name, count in used.most_common())
    note = f"Tolerated and counted, because real messages differ from the document: {uses}."
    indented(console, note)


def show_next(console: Console, output: Path) -> None:
    """Show where the output is, and what to try next."""
    title(console, "Where to find the output, and what to try next")
    lies = Table.grid(padding=(0, 2))
    lies.add_column()
    lies.add_column(overflow="fold")
    lies.add_row("Reports", f"{output}/*/report.html")
    lies.add_row("Logs", f"{output}/*/log (Delta)")
    console.print(Padding(lies, (0, 2, 1, 2), expand=False))
    users = os.path.relpath(INPUTS / "aerospike_json" / "users.jsonl")
    topic = os.path.relpath(INPUTS / "mixed")
    for line in (
        f"changewire validate -f aerospike-json {users}",
        f"changewire decode --as changes -f auto {topic} | head",
        "python examples/quickstart.py",
    ):
        command(console, f"{_programs()}{line}")
    console.print()


def _programs() -> str:
    """Return the folder of the programs; an empty text if it is not below the working directory.

    The environment that nox makes is not on the path of whoever reads the screen.
    """
    folder, here = Path(sys.executable).parent, Path.cwd()
    return f"{folder.relative_to(here)}{os.sep}" if folder.is_relative_to(here) else ""
