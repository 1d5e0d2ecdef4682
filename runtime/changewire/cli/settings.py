"""Settings of tables: of a TOML file, and types of columns that are given alone."""

from collections.abc import Iterable, Mapping
from typing import Any

import typer

from changewire.cli.flags import FileError
from changewire.cli.toml import toml_of
from changewire.engines.settings import SettingsByTable

_TABLES = "tables"


def settings_by_table(file: str | None, columns: Iterable[str] | None) -> Mapping[str, Any] | None:
    """Return the settings of a file and of ``--column``, which wins; None without any.

    Raises:
        typer.BadParameter: The file cannot be read, or a setting is not valid.
    """
    found: dict[str, Any] = {} if file is None else _read(file)
    for table, name, kind in map(_column, columns or ()):
        held = found.get(table, {})
        found[table] = {**held, "columns": {**held.get("columns", {}), name: kind}}
    return found or None


def _read(file: str) -> dict[str, Any]:
    given = toml_of(file)
    for name in given:
        if name != _TABLES:
            raise FileError(f"{file}: no setting {name!r}; there is: {_TABLES}")
    found = given.get(_TABLES, {})
    try:
        SettingsByTable(found, f"{file}: {_TABLES}")
    except ValueError as error:
        raise FileError(str(error)) from None
    return dict(found)


def _column(given: str) -> tuple[str, str, str]:
    """Return table, column and type of ``TABLE.COLUMN=TYPE``."""
    path, _, kind = given.partition("=")
    table, _, name = path.rpartition(".")
    if not (table and name and kind):
        raise typer.BadParameter(f"--column: expected TABLE.COLUMN=TYPE, found {given!r}")
    return table, name, kind
