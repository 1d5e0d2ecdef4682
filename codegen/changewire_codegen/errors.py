"""What can be wrong with a schema, as one error that names the place."""

from __future__ import annotations


class SchemaError(Exception):
    """A schema is outside the dialect.

    Attributes:
        file: Path of the schema file, relative to the schema folder.
        pointer: JSON Pointer to the place in that file; empty for the whole file.
        reason: What is wrong there, and what the dialect asks for.
    """

    def __init__(self, file: str, pointer: str, reason: str) -> None:
        """Name the place and the reason."""
        super().__init__(file, pointer, reason)
        self.file = file
        self.pointer = pointer
        self.reason = reason

    def __str__(self) -> str:
        """Return ``file#pointer: reason``."""
        return f"{self.file}#{self.pointer}: {self.reason}"
