"""What tables that are adopted must have; the same in each engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from changewire.engines.errors import OutputError


def check_key_columns(
    target: str,
    key_columns: Sequence[str] | None,
    known: Sequence[str] | None,
    columns: Collection[str],
) -> list[str]:
    """Return the columns of the key of a table that is adopted.

    Args:
        target: The table.
        key_columns: The columns of its key as they are given.
        known: Those that the table says, if changewire made it.
        columns: All of its columns.

    Raises:
        ValueError: They are neither given nor known.
        OutputError: The table lacks one, or has another key.
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
    missing = [name for name in key_columns if name not in columns]
    if missing:
        raise OutputError(f"{target}: the key's column {missing[0]} is not one of the table's")
    if known is not None and sorted(known) != sorted(key_columns):
        raise OutputError(
            f"{target}: the table's key is {', '.join(known)}, not {', '.join(sorted(key_columns))}"
        )
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
