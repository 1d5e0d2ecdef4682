"""What can be wrong: with a schema, or with the folder to write to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class SchemaError(ValueError):
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
        place = f"{self.file}#{self.pointer}"
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in place)
        return f"{shown}: {self.reason}"


class RowSchemaError(ValueError):
    """The schema of a table's rows describes no columns.

    Attributes:
        problems: All that is wrong with it.
    """

    def __init__(self, problems: Sequence[SchemaError]) -> None:
        """Keep what is wrong."""
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        """Return each problem, on a line of its own."""
        return "\n".join(map(str, self.problems))


class TargetError(ValueError):
    """A folder or file to write to is not ours.

    Attributes:
        path: The folder or file.
        reason: The cause, and what to do.
    """

    def __init__(self, path: Path, reason: str) -> None:
        """Name the place and the reason."""
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        """Return ``path: reason``."""
        return f"{self.path.as_posix()}: {self.reason}"
