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
_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_checked: Final = msgspec.json.Decoder(Raw).decode
_encode: Final = msgspec.json.Encoder().encode


def unpacked(text: str) -> dict[str, Any]:
    """Return the columns of a row, each as the JSON text that it was; None for what is null."""
    return {name: None if value == _NULL else value for name, value in _members(text).items()}


def packed(key: str, values: Mapping[str, Any]) -> str:
    """Return the text of a row; columns of its key that it lacks come first.

    Args:
        key: The key as `changewire.tables.keys.key_text`.
        values: The columns.
    """
    lacking = {name: value for name, value in unpacked(key).items() if name not in values}
    return _encode({**lacking, **values}).decode()


def with_key(key: str, row: str) -> str:
    """Return the text of a row, as changewire writes rows, as `packed` does.

    Raises:
        msgspec.DecodeError: The row is not a JSON object.
    """
    begin = key[:-1]
    if row.startswith(begin) and row[len(begin) : len(begin) + 1] in {",", "}"}:
        _checked(row)
        return row
    return packed(key, unpacked(row))
