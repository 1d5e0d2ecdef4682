"""What was accepted although a schema does not promise it: noted, never silent, never an error."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from changewire.changes.connect.paths import Path, pointer_of

BEYOND_MICROSECONDS: Final = "beyond-microseconds"
BEYOND_RANGE: Final = "beyond-range"
DEFAULT_FOR_ABSENT: Final = "default-for-absent"
DEFAULT_FOR_NULL: Final = "default-for-null"
FLOAT_ALIAS: Final = "float-alias"
ROUNDED_NUMBER: Final = "rounded-number"
UNDECLARED_FIELD: Final = "undeclared-field"
UNKNOWN_LOGICAL_TYPE: Final = "unknown-logical-type"

NOTES: Final[Mapping[str, str]] = {
    BEYOND_MICROSECONDS: "A time has digits below the microsecond; it is kept as sent.",
    BEYOND_RANGE: "A time lies outside the range of Python's type; it is kept as sent.",
    DEFAULT_FOR_ABSENT: "A required field is absent; its schema has a default; it stays absent.",
    DEFAULT_FOR_NULL: "A field is null; its schema has a default, which was taken.",
    FLOAT_ALIAS: "A schema says float32 or float64 for float or double.",
    ROUNDED_NUMBER: "A number has more digits than a double holds; it was rounded.",
    UNDECLARED_FIELD: "A struct has a field that its schema does not name; it is kept as sent.",
    UNKNOWN_LOGICAL_TYPE: "A schema names a logical type that is not known; its base type is read.",
}
"""Every kind of note, with its meaning."""


class Note(NamedTuple):
    """One thing that was accepted.

    Attributes:
        kind: A key of `NOTES`.
        path: Where: for `float-alias` and `unknown-logical-type` the place in the schema, otherwise
            the place in the value.
    """

    kind: str
    path: Path

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901)."""
        return pointer_of(self.path)


class Context(msgspec.Struct):
    """How one value is read. A struct, as one is made for every value.

    Attributes:
        partial: Whether required fields may be absent.
        notes: What collects notes; None where nobody asks for them.
    """

    notes: list[Note] | None
    partial: bool

    def note(self, kind: str, path: Path) -> None:
        """Collect a note."""
        if self.notes is not None:
            self.notes.append(Note(kind, path))
