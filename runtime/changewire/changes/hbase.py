"""Rows of HBase tables: cells are bytes, and names of columns have a family in front."""

from collections.abc import Sequence
from typing import Any, Final

from changewire.changes.values import base64_bytes
from changewire.codec import DecodeError, Issue
from changewire_messages.support import pointer_token

ROW_KEY: Final = "ROW"
"""Column of an HBase table that holds the row key."""

Row = dict[str, Any]


def cells(
    row: Row, pointer: str, families: Sequence[str] | None, used: list[str], *, format: str
) -> Row:
    """Return the columns of a row as bytes, under the names that HBase gives them.

    Args:
        row: Columns with Base64 text (RFC 4648, section 4); a value that is no text stays.
        pointer: JSON Pointer to the row.
        families: Column families, to make ``family:qualifier`` of ``family_qualifier``. The longest
            that fits is taken; None leaves all names as they are.
        used: Gets ``unknown-family`` for each column that is of none of them.
        format: Public name of the format, for errors.

    Raises:
        DecodeError: Texts are no Base64 text, or columns come to have the same name.
    """
    found: Row = {}
    issues: list[Issue] = []
    for name, value in row.items():
        column, place = column_name(name, families, used), f"{pointer}/{pointer_token(name)}"
        if column in found:
            expected = "a column that no other has the name of"
            issues.append(Issue(place, "duplicate-column", "hbase", expected, name))
        found[column] = base64_bytes(value) if type(value) is str else value
        if found[column] is None and value is not None:
            issues.append(Issue(place, "invalid-base64", "hbase", "Base64 text", value))
    if issues:
        raise DecodeError(format, issues)
    return found


def column_name(name: str, families: Sequence[str] | None, used: list[str]) -> str:
    """Return ``family:qualifier`` where the family is known; `used` is that of `cells`."""
    if families is None or name == ROW_KEY:
        return name
    fits = [family for family in families if name.startswith(f"{family}_")]
    if not fits:
        used.append("unknown-family")
        return name
    family = max(fits, key=len)
    return f"{family}:{name[len(family) + 1 :]}"
