"""Rows as columns of a type."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StringType, StructField, StructType

from changewire.codec.exact import exact_number
from changewire.engines.spark.apply.metadata import METADATA
from changewire.engines.spark.cells import field_cell
from changewire.engines.spark.readings import CHANGE_TEXT, TYPED_BY
from changewire.engines.spark.scalar_cells import Cell
from changewire.tables.metadata import COLUMN
from changewire_messages.support import pointer_token

_PARSE: Final = msgspec.json.Decoder(float_hook=exact_number).decode


class TypedShape:
    """Rows that are columns of a type; columns of the key that it lacks are text."""

    def __init__(self, row: StructType, keys: Sequence[str]) -> None:
        """Remember the type of rows and the columns of their key."""
        self._row_json = row.json()
        self.keys = tuple(keys)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given; the worker compiles it again."""
        return {"_row_json": self._row_json, "keys": self.keys}

    @cached_property
    def content_type(self) -> StructType:
        """The type of rows."""
        return StructType.fromJson(json.loads(self._row_json))

    @cached_property
    def columns(self) -> StructType:
        """Columns of the table."""
        row = self.content_type
        keys = [StructField(name, StringType()) for name in self.keys if name not in row.names]
        return StructType([*keys, *row.fields, StructField(COLUMN, METADATA)])

    @cached_property
    def _cells(self) -> dict[str, Cell]:
        fields = self.content_type.fields
        return {field.name: field_cell(_untyped(field), CHANGE_TEXT) for field in fields}

    def of_message(self, text: str) -> dict[str, Any]:
        """Return the columns of a row; those that the type lacks stay in the change log."""
        return {
            name: None if value is None else self._cells[name](value, f"/{pointer_token(name)}", [])
            for name, value in _PARSE(text).items()
            if name in self._cells
        }

    def unpack(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that are not NULL."""
        return {name: value for name, value in content.items() if value is not None}

    def pack(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns; those of the key are taken from its text."""
        del key
        return dict(values)

    def key_text(self, row: Column) -> Column:
        """Return the columns of the key as JSON text."""
        return F.to_json(F.struct(*(row[name] for name in self.keys)))

    def key_columns(self, key: Column) -> dict[str, Column]:
        """Return the columns of a key."""
        kind = StructType([self.columns[name] for name in self.keys])
        parsed = F.from_json(key, kind, {"mode": "FAILFAST"})
        return {name: parsed[name] for name in self.keys}

    def row_columns(self, key: Column, content: Column) -> dict[str, Column]:
        """Return the columns of a row."""
        keys = self.key_columns(key)
        row = {name: content[name] for name in self.content_type.names}
        return {**row, **keys}

    def content(self, row: Column) -> Column:
        """Return the columns of the type."""
        return F.struct(*(row[name].alias(name) for name in self.content_type.names))


def _untyped(field: StructField) -> StructField:
    """Return a column that does not say which schema gave it its type."""
    metadata = {key: value for key, value in field.metadata.items() if key != TYPED_BY}
    return StructField(field.name, field.dataType, metadata=metadata)
