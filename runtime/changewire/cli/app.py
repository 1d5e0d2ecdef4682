"""All commands in one group, which imports a command when it is named, and ends quietly."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from changewire.cli.closing import forget
from changewire.version import VERSION

BROKEN_PIPE: Final = 141

COMMANDS: Final[Mapping[str, str]] = {
    "explain": "Explain one message, field by field.",
    "decode": "Write messages, or their changes, as lines of JSON.",
    "validate": "Report every issue of every message.",
    "encode": "Write messages from lines of JSON.",
    "convert": "Convert messages from one format to another.",
    "sample": "Write valid messages of a format.",
    "schema": "Show, compare, draft and generate schemas.",
    "run": "Append files to a log, and merge them into tables.",
    "stream": "Append Kafka topics to a log, and merge them into tables.",
    "apply": "Merge a log into tables.",
    "current": "Show the current rows of a table, from the log.",
    "history": "Show every version of the rows of a table.",
    "trace": "Show which changes produced a row.",
    "dead-letters": "Show the open dead letters and refused changes of a log.",
    "replay": "Apply dead letters and refused changes again.",
    "adopt": "Assign a table to the next run or stream.",
    "verify": "Compare tables with their log.",
    "rebuild": "Rebuild tables from their log.",
    "doctor": "Check the environment.",
}
"""Each command with its line of help; the module of `changewire.cli.commands` has its name,
with underscores."""


class CommandGroup(TyperGroup):
    """All commands, which end quietly when the reader of their output closes it.

    They end with `BROKEN_PIPE`; Typer itself would end with 1, the code of rejected messages. This
    is done here and not around a command, because a command's help is written before it runs.
    """

    def __init__(self, **settings: Any) -> None:
        """Have the names of the commands, which are all that is asked for but by `get_command`."""
        super().__init__(**settings)
        self.commands: Any = dict.fromkeys(COMMANDS)

    def get_command(self, _: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """Return a command, imported; None if there is no such command."""
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, _: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """List the commands by the table, of which none is imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command that was named."""
        with _quiet_pipe():
            return super().invoke(ctx)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Read the options before the command, and do what they ask for."""
        # Typer checks None by pydantic, which is slow to import.
        for option in self.get_params(ctx):
            if option.default is None and getattr(option, "is_flag", False):
                option.default = False
        with _quiet_pipe():
            return super().parse_args(ctx, args)


@contextmanager
def _quiet_pipe() -> Generator[None, None, None]:
    try:
        yield
    except BrokenPipeError:
        forget(sys.stdout, sys.stderr)
        raise typer.Exit(BROKEN_PIPE) from None


@cache
def _command(name: str) -> Any:
    """Return a command, made by Typer of its function; a group of commands of its app."""
    place = name.replace("-", "_")
    module = import_module(f"changewire.cli.commands.{place}")
    command: Any
    if hasattr(module, "app"):
        command = typer.main.get_group(module.app)
    else:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(getattr(module, place))
        command = typer.main.get_command(app)
    command.name, command.short_help = name, COMMANDS[name]
    return command


app: typer.Typer = typer.Typer(
    name="changewire",
    cls=CommandGroup,
    help="Inspect, validate and land CDC messages, and merge them into tables.",
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
    "Exit codes: 0: success, and every message was valid; 1: some messages were not valid (run "
    "and stream: by --fail-on); 2: wrong usage, or a failure."
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
