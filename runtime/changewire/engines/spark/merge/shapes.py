"""How a table in Spark has its rows: as JSON text, or as columns of a type. Shapes pickle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyspark.sql.types import DataType, StringType, StructField, StructType

from changewire.engines.changelog.shapes import JsonRows, TypedRows
from changewire.engines.json_rows import COMMENTS, KEY, ROW
from changewire.engines.spark.types import arrow_type, struct_columns, struct_of
from changewire.engines.typed.own import USUAL, RowOptions
from changewire.tables.row_state import COLUMN
from changewire_messages.tables.spark import ROW_STATE

_STATE: Final = StructField(COLUMN, ROW_STATE, metadata={"comment": COMMENTS[COLUMN]})


class JsonShape:
    """Rows of JSON text: the columns ``key`` and ``row``.

    Attributes:
        rows: How Python has its rows.
        keys: Names of the key's columns.
        named_type: Columns of the key, as in the table.
        content_type: Type of a row's content within a batch.
        columns: Columns of the table.
        is_typed: Whether rows are columns of a type.
    """

    rows: JsonRows = JsonRows()
    keys: tuple[str, ...] = JsonRows.keys
    columns: StructType = StructType([*struct_of(JsonRows.schema).fields, _STATE])
    named_type: StructType = StructType([columns[KEY]])
    content_type: DataType = StringType()
    is_typed = False

    def row(self, named: Mapping[str, Any], content: str | None) -> dict[str, Any]:
        """Return a row of the table, by the columns of its key and its content."""
        return {**named, ROW: content}

    def content(self, row: Mapping[str, Any]) -> str:
        """Return the content of a row."""
        return str(row[ROW])


class TypedShape:
    """Rows that are columns of a type; columns of the key that it lacks are text.

    It has the attributes and methods of `JsonShape`.
    """

    is_typed = True

    def __init__(self, row: StructType, keys: Sequence[str], how: RowOptions = USUAL) -> None:
        """Remember the type of rows, the columns of their key, and how values become columns."""
        names = {*row.names}
        named = [row[name] if name in names else StructField(name, StringType()) for name in keys]
        only = [field for field in named if field.name not in names]
        self.rows: TypedRows = TypedRows(struct_columns(row), keys, how)
        self.keys: tuple[str, ...] = self.rows.keys
        self.columns: StructType = StructType([*only, *row.fields, _STATE])
        self.named_type: StructType = StructType(named)
        self.content_type: StructType = row

    def row(self, named: Mapping[str, Any], content: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a row of the table, by the columns of its key and its content."""
        return {**dict.fromkeys(self.content_type.names), **(content or {}), **named}

    def content(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the content of a row, whose other columns are left out by its type."""
        return row


Shape: TypeAlias = JsonShape | TypedShape


def arrow_schema(kind: StructType) -> pa.Schema:
    """Return the columns of a type in Arrow."""
    return pa.schema([*arrow_type(kind)])
