"""The dead letters of all formats, by reason."""

from collections import Counter
from collections.abc import Mapping

from examples.demo.outputs import Row, rows_of
from examples.demo.screen import grid, indented, title
from rich.console import Console
from rich.text import Text

from changewire.engines.layout import DEAD_LETTER
from changewire.engines.outcome import Outcome


def show(console: Console, outcomes: Mapping[str, Outcome]) -> None:
    """Show the number of dead letters for each reason, with the first one."""
    title(console, "Dead letters by reason")
    letters = [row for outcome in outcomes.values() for row in rows_of(outcome, DEAD_LETTER)]
    counts = Counter(letter["code"] for letter in letters)
    table = grid(">", "Reason", "The first one")
    for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        first = next(letter for letter in letters if letter["code"] == code)
        table.add_row(str(count), Text(code, style="red"), Text(_sentence(first)))
    console.print(table)
    indented(console, "Each keeps its message and its position, so it can be fixed and read again.")


def _sentence(letter: Row) -> str:
    """Return the first reason of a dead letter, without its code."""
    text: str = letter["message"].replace(f" ({letter['code']})", "")
    return text.replace(": at ", ": ", 1)
