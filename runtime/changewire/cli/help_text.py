"""Help of a command, made of the docstring of its function."""

from __future__ import annotations

from inspect import cleandoc
from typing import Final

EXAMPLE: Final = "Example: "
_AS_IT_IS: Final = "\b"
"""A paragraph that begins with it is not wrapped: https://click.palletsprojects.com/documentation/."""


def help_text(docstring: str) -> str:
    """Return a docstring whose example keeps its lines, so that it can be copied.

    Args:
        docstring: Text whose last paragraph begins with ``Example:``, and is a command.
    """
    text, _, example = cleandoc(docstring).partition(f"\n\n{EXAMPLE}")
    return f"{text}\n\n{_AS_IT_IS}\n{EXAMPLE.strip()}\n  {example}" if example else text
