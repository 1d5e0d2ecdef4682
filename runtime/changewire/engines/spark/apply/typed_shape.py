"""Rows as columns of a type."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.spark.apply.fit import EFFECT_FIELDS, Cells, Fit, fitted_type
from changewire.engines.spark.apply.metadata import METADATA
from changewire.engines.spark.cells import field_cell
from changewire.engines.spark.readings import CHANGE_TEXT, KEY_TEXT, TYPED_BY
from changewire.tables.metadata import COLUMN


class TypedShape:
    """Rows that are columns of a type; columns of the key that it lacks are text."""

    compared = "after"
    is_typed = True

    def __init__(self, row: StructType, keys: Sequence[str]) -> None:
        """Remember the type of rows and the columns of their key."""
        self._row_json = row.json()
        self.keys = tuple(keys)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given; the worker compiles it again."""
        return {"_row_json": self._row_json, "keys": self.keys}

    @cached_property
    def _row(self) -> StructType:
        return StructType.fromJson(json.loads(self._row_json))

    @property
    def content_type(self) -> StructType:
        """The type of rows."""
        return self._row

    @property
    def named_type(self) -> StructType:
        """The columns of the key."""
        row = self._row
        return StructType(
            [
                row[name] if name in row.names else StructField(name, StringType())
                for name in self.keys
            ]
        )

    @property
    def columns(self) -> StructType:
        """Columns of the table."""
        row = self.content_type
        keys = [field for field in self.named_type.fields if field.name not in row.names]
        return StructType([*keys, *row.fields, StructField(COLUMN, METADATA)])

    def fitted(self, effects: DataFrame) -> DataFrame:
        """Return effects with the columns of their key and row; computed once."""
        names = [*(field.name for field in EFFECT_FIELDS), "after"]
        fit = Fit(self, self._cells)
        return (
            effects.select(*names).mapInArrow(fit, fitted_type(self)).localCheckpoint(eager=False)
        )

    def _cells(self) -> tuple[Cells, Cells]:
        """Return what fits the columns of the key, and those of the row."""
        of_key = {f.name: field_cell(_untyped(f), KEY_TEXT) for f in self.named_type.fields}
        of_row = {f.name: field_cell(_untyped(f), CHANGE_TEXT) for f in self.content_type.fields}
        return of_key, of_row

    def unpack(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that are not NULL."""
        return {name: value for name, value in content.items() if value is not None}

    def pack(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns; those of the key are not taken from here."""
        del key
        return dict(values)

    def key_text(self, row: Column) -> Column:
        """Return the columns of the key as JSON text."""
        return F.to_json(F.struct(*(row[name] for name in self.keys)))

    def row_columns(self, named: Column, content: Column) -> dict[str, Column]:
        """Return the columns of a row; those of its key are the key's."""
        row = {name: content[name] for name in self.content_type.names}
        return {**row, **{name: named[name] for name in self.keys}}

    def content(self, row: Column) -> Column:
        """Return the columns of the type."""
        return F.struct(*(row[name].alias(name) for name in self.content_type.names))


def _untyped(field: StructField) -> StructField:
    """Return a column that does not say which schema gave it its type."""
    metadata = {key: value for key, value in field.metadata.items() if key != TYPED_BY}
    return StructField(field.name, field.dataType, metadata=metadata)
