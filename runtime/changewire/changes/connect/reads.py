"""How a value is read: its path, notes of what was accepted, and the error for what was not."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias, Union

import msgspec

from changewire.changes.connect.schema import Node, ValueMismatch
from changewire_messages.support import pointer_token

Path: TypeAlias = Union[str, "tuple[Path, str | int]"]
"""A JSON Pointer, or the path of the parent and the last step."""


def pointer_of(path: Path) -> str:
    """Return the JSON Pointer (RFC 6901) of a path."""
    steps: list[str] = []
    while not isinstance(path, str):
        path, step = path
        steps.append(f"/{pointer_token(str(step))}")
    return path + "".join(reversed(steps))


BEYOND_MICROSECONDS: Final = "beyond-microseconds"
BEYOND_RANGE: Final = "beyond-range"
DEFAULT_FOR_ABSENT: Final = "default-for-absent"
DEFAULT_FOR_NULL: Final = "default-for-null"
FLOAT_ALIAS: Final = "float-alias"
ROUNDED_NUMBER: Final = "rounded-number"
UNDECLARED_FIELD: Final = "undeclared-field"
UNKNOWN_LOGICAL_TYPE: Final = "unknown-logical-type"


class Note(NamedTuple):
    """One thing that was accepted."""

    kind: str
    path: Path

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901)."""
        return pointer_of(self.path)


class Context(msgspec.Struct):
    """How one value is read. A struct, as one is made for every value."""

    notes: list[Note] | None
    partial: bool

    def note(self, kind: str, path: Path) -> None:
        """Collect a note."""
        if self.notes is not None:
            self.notes.append(Note(kind, path))


Read: TypeAlias = Callable[[Any, Context, Path], Any]
"""Takes a value as in JSON, how it is read, and its place; returns the typed value."""

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
