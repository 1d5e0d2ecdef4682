"""What every reader of a value is, and what it does with a value that it does not take."""

from collections.abc import Callable
from typing import Any, TypeAlias

from changewire.changes.connect.errors import ValueMismatch
from changewire.changes.connect.notes import Context
from changewire.changes.connect.paths import Path, pointer_of
from changewire.changes.connect.schema import Node

Read: TypeAlias = Callable[[Any, Context, Path], Any]
"""Takes a value as JSON has it, how it is read, and its place; returns the typed value."""

Refuse: TypeAlias = Callable[..., Any]
"""Takes a value and its place, and, unless the type is wrong, what was expected and the rule."""


def refusal(node: Node, expected: str) -> Refuse:
    """Return what a reader calls with a value that it does not take.

    It returns None for the null of an optional node, and raises for anything else. So readers look
    at null last, and other values pay nothing for it.
    """
    optional, pointer = node.optional, node.pointer

    def refuse(
        value: object, path: Path, expected: str = expected, rule: str = "wrong-type"
    ) -> Any:
        if value is not None or not optional:
            raise ValueMismatch(pointer_of(path), pointer, expected, value, rule)

    return refuse
