"""Rows of tables as JSON text: the columns ``key`` and ``row``, the same in each engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from changewire.tables.row_state import COLUMN

KEY: Final = "key"
ROW: Final = "row"

COMMENTS: Final[Mapping[str, str]] = {
    KEY: "Key of the row, JSON text.",
    ROW: "The row, JSON text.",
    COLUMN: "What the row was made by.",
}
"""What the columns of such a table are, by their names and in their order."""

_NULL: Final = Raw(b"null")


def unpacked(text: str) -> dict[str, Any]:
    """Return the columns of a row, each as the JSON text that it was; None for what is null."""
    found = msgspec.json.decode(text, type=dict[str, Raw])
    return {name: None if value == _NULL else value for name, value in found.items()}


def packed(key: str, values: Mapping[str, Any]) -> str:
    """Return the text of a row, the columns of its key first."""
    return msgspec.json.encode({**unpacked(key), **values}).decode()
