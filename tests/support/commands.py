"""The commands of the program as Typer knows them, and calls of them as a shell reads them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import typer

from changewire.cli.app import app

PROGRAM = "changewire"


@cache
def group() -> Any:
    """Return the whole program."""
    return typer.main.get_command(app)


def commands() -> Mapping[str, Any]:
    """Return each command by its words, those of groups too: ``schema diff``."""
    return dict(_leaves(group(), ()))


def _leaves(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield " ".join(words), command
        return
    for name in command.commands:
        yield from _leaves(command.get_command(None, name), (*words, name))


def calls(line: str) -> list[list[str]]:
    """Return the words of each call of the program in a line of shell, without its name.

    Redirections of output are left out.
    """
    found = []
    for part in line.split(" | "):
        name, *words = shlex.split(part.partition(" > ")[0])
        if name == PROGRAM:
            found.append(words)
    return found


def parse(words: list[str]) -> Any:
    """Read the words of a call as the program does, without running it; return its options.

    Raises:
        Exception: They are wrong usage, of a class that belongs to Typer.
    """
    command, rest = group(), list(words)
    while hasattr(command, "commands"):
        command = command.get_command(None, rest.pop(0))
    return command.make_context(PROGRAM, rest).params
