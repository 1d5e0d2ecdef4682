"""Checks of the keys of tables, and of tables that are adopted; the same in each engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from changewire.engines.errors import OutputError
from changewire.engines.typed.evolve import key_fault
from changewire.engines.typed.types import StructJson


def check_has_key(target: str, keys: Sequence[str] | None, columns: Collection[str]) -> None:
    """Check that a table has the columns of its key, if it is known.

    Raises:
        OutputError: It lacks one.
    """
    lacking = [one for one in keys or () if one not in columns]
    if lacking:
        raise OutputError(
            f"{target}: its key has the column {lacking[0]!r}, which it lacks: the column was "
            "renamed or dropped, or a rebuild was killed. Rename it back; if it is gone, `rebuild` "
            "with row_schema makes it again"
        )


def check_key_columns(
    target: str,
    key_columns: Sequence[str] | None,
    known: Sequence[str] | None,
    columns: StructJson,
    compares: Callable[[Any], bool],
) -> list[str]:
    """Return the columns of the key of a table that is adopted.

    Args:
        target: The table.
        key_columns: The columns of its key as they are given.
        known: Those that the table says, if changewire made it.
        columns: All of its columns.
        compares: Whether values of a type can be compared.

    Raises:
        ValueError: They are neither given nor known.
        OutputError: The table lacks one, or has another key, or values of one cannot be compared.
    """
    if key_columns is None:
        if known is None:
            raise ValueError(
                f"{target}: the columns of its key are needed, as changewire did not make the "
                "table; name them by `key_columns`"
            )
        return sorted(known)
    if not key_columns or isinstance(key_columns, str):
        raise ValueError(f"key_columns are names of columns, at least one, and not {key_columns!r}")
    there = {one["name"] for one in columns["fields"]}
    missing = [name for name in key_columns if name not in there]
    if missing:
        raise OutputError(f"{target}: the key's column {missing[0]} is not one of the table's")
    if known is not None and sorted(known) != sorted(key_columns):
        raise OutputError(
            f"{target}: the table's key is {', '.join(known)}, not {', '.join(sorted(key_columns))}"
        )
    fault = key_fault(key_columns, columns, compares)
    if fault is not None:
        raise OutputError(f"{target}: it cannot be adopted by this key: {fault}")
    return sorted(key_columns)


def check_keys_of_rows(
    target: str, key_columns: Sequence[str], *, without: int, doubles: int
) -> None:
    """Check that each row has a key, by how many have NULL in it, and another one than all others.

    Raises:
        OutputError: Some have not.
    """
    names = ", ".join(key_columns)
    if without:
        raise OutputError(f"{target}: {without} rows have NULL in the key ({names})")
    if doubles:
        raise OutputError(f"{target}: {doubles} keys ({names}) have more than one row each")
