"""The page of the command line, from the program's own help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import typer

from changewire.cli.app import app
from docs.making.markdown import cell, table

_EXAMPLE: Final = "Example: "


def page() -> str:
    """Return the page: each command with its help, its example, its arguments and options."""
    head = (
        "# Commands and their options\n\n"
        "Look up the options of each command, as `changewire COMMAND --help` shows them.\n"
        "[The command line](../reference/cli.md) explains the commands with examples.\n"
    )
    return head + "".join(f"\n{_section(name, command)}" for name, command in commands())


def commands() -> Iterator[tuple[str, Any]]:
    """Yield each command of the program and its subcommands, with the words to type."""
    yield from _below("", typer.main.get_command(app))


def _below(prefix: str, group: Any) -> Iterator[tuple[str, Any]]:
    for name in group.commands:
        command = group.get_command(None, name)
        if hasattr(command, "commands"):
            yield from _below(f"{prefix}{name} ", command)
        else:
            yield f"{prefix}{name}", command


def _section(name: str, command: Any) -> str:
    text, _, example = str(command.help).partition(_EXAMPLE)
    shown = f"\n```console\n$ {example.strip()}\n```\n" if example else ""
    rows = [
        (f"`{called}`", cell(each.help or ""), default(each)) for called, each in taken(command)
    ]
    return f"## {name}\n\n{text.strip()}\n{shown}\n{table(('', 'meaning', 'default'), rows)}"


def taken(command: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arguments and options of a command, each with the words to type."""
    for each in command.params:
        if each.param_type_name == "argument":
            yield each.metavar or each.name.upper(), each
        else:
            words = ", ".join((*each.opts, *each.secondary_opts))
            yield f"{words} {each.metavar}" if each.metavar else words, each


def default(parameter: Any) -> str:
    """Return the default of a parameter, or that it is required."""
    if parameter.required:
        return "required"
    value = parameter.default
    return "" if value in (None, False, "", 0, []) else f"`{value}`"
