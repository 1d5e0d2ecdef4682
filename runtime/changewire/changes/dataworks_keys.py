"""Which columns name the rows of DataWorks messages."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from changewire.changes.dataworks_rows import TableSchema
from changewire.codec import Issue

HIDDEN_KEYS: Final = (
    "#alibaba_rds_row_id#",
    "__#alibaba_rds_row_id#__",
    "_drds_implicit_id_",
)
"""Columns that name the rows of tables without a primary key: those of RDS MySQL and PolarDB-X."""


def key_columns(
    table: TableSchema,
    row: Mapping[str, Any],
    keys: Sequence[str] | None,
    used: list[str],
    issues: list[Issue],
) -> Sequence[str]:
    """Return the columns that name a row; none if nothing says them."""
    if keys is not None:
        return keys
    if table.is_key_declared:
        return table.primary_key
    if not table.primary_key:
        return next(((name,) for name in HIDDEN_KEYS if name in row), ())
    found: list[str] = []
    for place, name in enumerate(table.primary_key):
        fits = _columns(name, {*table.readers, *row})
        if fits == [name]:
            found.append(name)
        elif len(fits) == 1:
            used.append("primary-key-case")
            found += fits
        elif table.readers:  # otherwise nothing says which columns there are
            issues.append(_no_column(name, place, fits))
    return found if len(found) == len(table.primary_key) else ()


def _columns(name: str, columns: Collection[str]) -> list[str]:
    """Return the column of a name; if there is none, those that differ from it in case only."""
    if name in columns:
        return [name]
    folded = name.lower()
    return [column for column in columns if column.lower() == folded]


def _no_column(name: str, place: int, fits: list[str]) -> Issue:
    several = ", but several differ from it in case only" if fits else ""
    expected = f"the name of a column in /schema/dataColumn{several}"
    return Issue(f"/schema/primaryKey/{place}", "invalid-schema", "primaryKey", expected, name)
