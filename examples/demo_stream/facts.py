"""The end of the screen: everything counted again, from the topic and the tables."""

from examples.demo.screen import grid, indented, title
from examples.demo_stream.audit import Facts
from rich.console import Console


def show(console: Console, found: Facts, killed: int, seconds: float, *, is_verified: bool) -> None:
    """Show the facts, and say whether they are as they should be.

    Args:
        console: Where.
        found: What the audit found.
        killed: Messages that were committed of the second run when its driver was killed.
        seconds: How long all of it took.
        is_verified: Whether every row of the tables is as the log has it.
    """
    title(console, "Counted again, from the topic and the files of the tables")
    table = grid(">", "")
    for number, what in (
        (found.messages, "messages in the topic"),
        (found.elements, "elements of these messages"),
        (found.changes, "changes in the log"),
        (found.controls, "control events"),
        (found.dead_letters, "dead letters"),
        (found.refused, "changes that no table took"),
        (found.replayed, "changes that were replayed, and that their tables have now"),
        (found.rows, "rows in the tables"),
        (killed, "messages were committed by the driver that was killed"),
        (found.lost, "lost"),
        (found.double, "duplicates"),
        (found.wrong_rows, "rows that differ from the result of the messages"),
    ):
        table.add_row(f"{number:,}", what)
    console.print(table)
    verdict = (
        "[green]Nothing is lost, nothing is duplicated, every row is correct.[/]"
        if found.are_good and is_verified
        else "[red]Error: elements are lost or duplicated, or rows are wrong.[/]"
    )
    indented(console, f"{verdict} {seconds:.0f} seconds.")
