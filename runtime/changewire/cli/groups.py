"""The group of all commands: it imports a command when it is named, and ends quietly."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, TextIO

import typer
from typer.core import TyperGroup

BROKEN_PIPE: Final = 141

COMMANDS: Final[Mapping[str, str]] = {
    "explain": "One message, field by field.",
    "decode": "Messages to lines of JSON.",
    "validate": "Every issue of every message.",
    "encode": "Lines of JSON to messages.",
    "convert": "Messages of one format to another.",
    "changes": "Messages to changes, as lines of JSON.",
    "detect": "Count the messages of each format.",
    "schemas": "List the schemas in messages, and what changed.",
    "formats": "List formats and their messages.",
    "infer": "Draft a schema of rows from messages.",
    "generate": "Your own schemas to a package of models, checks and columns.",
    "run": "Messages to tables, with a report.",
    "replay": "Apply the dead letters of a stream that are valid by now.",
    "trace": "Show which changes produced a row.",
    "doctor": "Look for what is missing.",
    "schema": "Show the schemas of messages, or what changed in them.",
}
"""Each command with its line of help; the module of `changewire.cli.commands` has its name."""


class LazyCommands(MutableMapping[str, Any]):
    """The commands by name; each is imported when it is taken."""

    def __init__(self) -> None:
        """Import nothing."""
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return a command, imported.

        Raises:
            KeyError: There is no such command.
        """
        if name not in self._loaded:
            self._loaded[name] = _command(name, COMMANDS[name])
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        """Put a command in place of one."""
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        """Forget what was imported."""
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names, in the order of the help."""
        return iter(COMMANDS)

    def __len__(self) -> int:
        """Return how many commands there are."""
        return len(COMMANDS)


class CommandGroup(TyperGroup):
    """All commands, which end quietly when the reader of their output closes it.

    They end with `BROKEN_PIPE`; Typer itself would end with 1, the code of refused messages. This
    is done here and not around a command, because a command's help is written before it runs.
    """

    def __init__(self, **settings: Any) -> None:
        """Have the commands without importing them."""
        super().__init__(**settings)
        self.commands = LazyCommands()

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
        for option in self.get_params(
            ctx
        ):  # Typer checks None by pydantic, which is slow to import
            if option.default is None and getattr(option, "is_flag", False):
                option.default = False
        with _quiet_pipe():
            return super().parse_args(ctx, args)


@contextmanager
def _quiet_pipe() -> Generator[None, None, None]:
    try:
        yield
    except BrokenPipeError:
        _forget(sys.stdout)
        _forget(sys.stderr)
        raise typer.Exit(BROKEN_PIPE) from None


def _command(name: str, short_help: str) -> Any:
    """Return a command, made by Typer of its function; a group of commands of its app."""
    module = import_module(f"changewire.cli.commands.{name}")
    command: Any
    if hasattr(module, "app"):
        command = typer.main.get_group(module.app)
    else:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name, short_help=short_help)(getattr(module, name))
        command = typer.main.get_command(app)
    command.name, command.short_help = name, short_help
    return command


def _forget(stream: TextIO) -> None:
    """Let nothing that waits in a closed pipe be written when the program ends."""
    try:
        stream.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
