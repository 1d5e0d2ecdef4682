"""All commands in one place."""

from __future__ import annotations

from typing import Annotated

import typer

from changewire.cli.commands import (
    changes,
    convert,
    decode,
    detect,
    doctor,
    encode,
    explain,
    formats,
    generate,
    infer,
    replay,
    run,
    schema,
    schemas,
    trace,
    validate,
)
from changewire.cli.ending import QuietGroup
from changewire.version import VERSION

app = typer.Typer(
    name="changewire",
    cls=QuietGroup,
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
    "Exit codes: 0: every message was good; 1: some were not; "
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


_COMMANDS = (
    (explain, "One message, field by field."),
    (decode, "Messages to lines of JSON."),
    (validate, "Every issue of every message."),
    (encode, "Lines of JSON to messages."),
    (convert, "Messages of one format to another."),
    (changes, "Messages to changes, as lines of JSON."),
    (detect, "Count the messages of each format."),
    (schemas, "List the schemas that stand in messages, and what changed."),
    (formats, "List formats and their messages."),
    (infer, "Draft a schema of rows from messages."),
    (generate, "Your own schemas to a package of models, checks and columns."),
    (run, "Messages to tables, with a report."),
    (replay, "Apply the dead letters of a stream that are good by now."),
    (trace, "Tell how one row came to be what it is."),
    (doctor, "Look for what is missing."),
)
for command, short_help in _COMMANDS:
    app.command(short_help=short_help)(command)
app.add_typer(schema.app, name="schema", short_help="Show our schemas, or what changed in them.")
