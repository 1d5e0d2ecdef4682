"""All commands in one place."""

from __future__ import annotations

from typing import Annotated

import typer

from changewire.cli.groups import CommandGroup
from changewire.version import VERSION

app = typer.Typer(
    name="changewire",
    cls=CommandGroup,
    help="Change-data-capture messages from Kafka: to look into, to check, to make tables of.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # they hold messages
    rich_markup_mode=None,
)


def _show_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"changewire {VERSION}")
        raise typer.Exit


_EXIT_CODES = (
    "Exit codes: 0: every message was valid; 1: some were not; "
    "2: bad usage, or the input could not be read."
)


@app.callback(epilog=_EXIT_CODES)
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass
