"""Names of columns as most catalogs have them, which ignore case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from changewire.engines.typed.scalar_cells import CellError
from changewire_messages.support import pointer_token

OTHER_CASE: Final = "other-case"
"""Leniency: a column of a row differs from that of the type in case only, and was taken for it."""


class ColumnNames:
    """The columns of a type, found by names that may differ in case."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names of the columns."""
        self._names = frozenset(names)
        folded = Counter(map(str.lower, self._names))
        self._by_folded = {one.lower(): one for one in self._names if folded[one.lower()] == 1}

    def column(self, name: str) -> str:
        """Return the column that a name means: of this name, or the only one that matches.

        A name that means none, or one of several, is returned as it is.
        """
        return name if name in self._names else self._by_folded.get(name.lower(), name)

    def renamed(self, row: Mapping[str, Any], at: str, used: list[str]) -> Mapping[str, Any]:
        """Return a row under the names of the columns.

        Args:
            row: The row.
            at: JSON Pointer to it.
            used: Gets `OTHER_CASE` for each column that was renamed.

        Raises:
            CellError: Two columns of the row mean one of the type.
        """
        if row.keys() <= self._names:
            return row
        found: dict[str, Any] = {}
        for name, value in row.items():
            column = self.column(name)
            if column in found:
                expected = f"one column for {column!a} of the type, whatever its case"
                raise CellError(f"{at}/{pointer_token(name)}", expected, name, "duplicate-column")
            if column != name:
                used.append(OTHER_CASE)
            found[column] = value
        return found
