"""Errors of functions in the words of the command line: its options instead of parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, get_type_hints

import typer
from typer.models import OptionInfo

_COMMANDS: Final = {"adopt_table": "changewire adopt"}
"""Functions and parameters by their names, for which there is a command."""

_NAME: Final = re.compile(
    r"(?<![\w.'\"`/-])(?:(`)(?:changewire\.\w+\.)?(\w+)(?:=\w+)?`"
    r"|(?:changewire\.\w+\.)?([a-z]+(?:_[a-z]+)+)(?:=\w+)?)(?![\w'\"`/-]|\.\w)"
)
"""A parameter: any name between backticks, or one with an underscore that is not quoted."""


class FileError(typer.BadParameter):
    """A fault of a file that a command is given, in the words of the file."""


def flags_of(command: Callable[..., Any]) -> dict[str, str]:
    """Return the options of a command by the names of its parameters."""
    hints = get_type_hints(command, include_extras=True)
    return options_in({name: (hint, None) for name, hint in hints.items()})


def options_in(parameters: Mapping[str, tuple[Any, Any]]) -> dict[str, str]:
    """Return options by the names of parameters, each with its annotation and its default."""
    found = {}
    for name, (hint, _) in parameters.items():
        for one in getattr(hint, "__metadata__", ()):
            if isinstance(one, OptionInfo):
                # Within Annotated the first name is where a default would be.
                given = [text for text in (one.default, *(one.param_decls or ())) if text]
                long = (text for text in given if str(text).startswith("--"))
                found[name] = next(long, f"--{name.replace('_', '-')}")
    return found


def in_flags(text: str, flags: Mapping[str, str]) -> str:
    """Return a text that names the options of a command instead of parameters."""
    words = {**_COMMANDS, **flags}
    return _NAME.sub(lambda found: words.get(found[2] or found[3], found[0]), text)
