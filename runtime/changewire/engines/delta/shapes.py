"""How a table of delta-rs has its rows: as JSON text, or as columns of a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa

from changewire.engines.delta.columns import ROWS
from changewire.engines.json_rows import KEY, ROW, packed, unpacked
from changewire.engines.typed.json_types import StructJson
from changewire.engines.typed.mutations import FittedMutations, Row, TypedColumns
from changewire.engines.typed.types import columns_of
from changewire.tables.batch import TableMutations
from changewire.tables.keys import key_text
from changewire.tables.metadata import COLUMN
from changewire_messages.tables.arrow import ROW_METADATA


class JsonShape:
    """Rows of JSON text in the columns of `columns.ROWS`.

    Attributes:
        schema: Columns of the table.
        keys: Those that name a row.
        takes_columns: Whether a table that is there gets those that it lacks.
    """

    schema = ROWS
    keys = (KEY,)
    takes_columns = False

    def fitted(self, found: TableMutations, afters: Sequence[str | None]) -> FittedMutations:
        """Return mutations as they are: their values are JSON text."""
        del afters
        return FittedMutations(found, {key: {KEY: key} for key in found}, {})

    def key_text(self, named: Row) -> str:
        """Return the text of a key, by its columns."""
        return str(named[KEY])

    def values(self, row: Row) -> Row:
        """Return the columns of a row, by those of the table."""
        return unpacked(row[ROW])

    def row(self, key: str, values: Mapping[str, Any]) -> Row:
        """Return the columns of the table but those of the key, by the columns of a row."""
        return {ROW: packed(key, values)}


class TypedShape:
    """Rows that are columns of a type; columns of the key that it lacks are text.

    It has the attributes and methods of `JsonShape`.
    """

    takes_columns = True

    def __init__(self, columns: StructJson, keys: Sequence[str]) -> None:
        """Remember the columns of rows, and which of them are the key.

        Raises:
            ValueError: A row has no column of such a type.
        """
        self.keys = tuple(keys)
        self._columns = TypedColumns(columns_of(columns), keys)
        row, key_only = self._columns.row, self._columns.key_only
        self.schema = pa.schema([*key_only, *row, pa.field(COLUMN, ROW_METADATA)])

    def fitted(self, found: TableMutations, afters: Sequence[str | None]) -> FittedMutations:
        """Return mutations whose keys and values are those of the columns."""
        return self._columns.fitted(found, afters)

    def key_text(self, named: Row) -> str:
        """Return the text of a key, by its columns."""
        return key_text({name: named[name] for name in self.keys})

    def values(self, row: Row) -> Row:
        """Return the columns of a row that are not NULL, by those of the table."""
        return {name: row[name] for name in self._columns.row.names if row[name] is not None}

    def row(self, key: str, values: Mapping[str, Any]) -> Row:
        """Return the columns of a row; those of its key are the key's."""
        del key
        return {name: value for name, value in values.items() if name not in self.keys}


Shape: TypeAlias = JsonShape | TypedShape
"""How a table has its rows."""

JSON: Final = JsonShape()
