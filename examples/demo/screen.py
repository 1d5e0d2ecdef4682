"""Paragraphs, headings and tables of the demo's screen."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


def indented(console: Console, text: str, style: str = "") -> None:
    """Print a paragraph, in rich's markup."""
    console.print(Padding(Text.from_markup(text), (0, 2), style=style, expand=False))


def line(console: Console, text: str, style: str = "") -> None:
    """Print a line as it is, however long, so that it can be pasted."""
    console.print(Text(f"  {text}", style), soft_wrap=True)


def command(console: Console, text: str) -> None:
    """Print a command."""
    line(console, f"$ {text}", "bold")


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
