"""How a table has its rows: as JSON text, or as columns of a type. Shapes pickle, for tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyspark.sql.types import DataType, StringType, StructField, StructType

from changewire.engines.json_rows import COMMENTS, KEY, ROW, packed, unpacked
from changewire.engines.spark.types import arrow_type, row_columns
from changewire.engines.typed.fit import Fit
from changewire.tables.row_state import COLUMN
from changewire_messages.tables.spark import ROW_STATE

_STATE: Final = StructField(COLUMN, ROW_STATE, metadata={"comment": COMMENTS[COLUMN]})


class JsonShape:
    """Rows of JSON text: the columns ``key`` and ``row``.

    Attributes:
        keys: Names of the key's columns.
        named_type: Columns of the key, as the table has them.
        content_type: Type of a row's content within a batch.
        is_typed: Whether rows are columns of a type.
    """

    keys: tuple[str, ...] = (KEY,)
    named_type: StructType = StructType(
        [StructField(KEY, StringType(), metadata={"comment": COMMENTS[KEY]})]
    )
    content_type: DataType = StringType()
    is_typed = False

    @property
    def columns(self) -> StructType:
        """Columns of the table."""
        row = StructField(ROW, StringType(), metadata={"comment": COMMENTS[ROW]})
        return StructType([*self.named_type.fields, row, _STATE])

    def unpack(self, content: str) -> dict[str, Any]:
        """Return the columns of a row, each as the JSON text that it was; None for null."""
        return unpacked(content)

    def pack(self, key: str, values: Mapping[str, Any]) -> str:
        """Return the row, the columns of its key first; `values` may have them or not."""
        return packed(key, values)


class TypedShape:
    """Rows that are columns of a type; columns of the key that it lacks are text.

    It has the attributes and methods of `JsonShape`.
    """

    is_typed = True

    def __init__(self, row: StructType, keys: Sequence[str], *, exact: bool = False) -> None:
        """Remember the type of rows, the columns of their key, and if no number is rounded."""
        self._exact = exact
        self._row = row.json()
        self.keys: tuple[str, ...] = tuple(keys)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given; a task makes the rest again."""
        return {"_row": self._row, "keys": self.keys, "_exact": self._exact}

    @cached_property
    def content_type(self) -> StructType:
        """The type of rows."""
        return StructType.fromJson(json.loads(self._row))

    @property
    def named_type(self) -> StructType:
        """The columns of the key."""
        row = self.content_type
        kinds = (row[name] if name in row.names else None for name in self.keys)
        named = zip(self.keys, kinds, strict=True)
        return StructType([kind or StructField(name, StringType()) for name, kind in named])

    @property
    def columns(self) -> StructType:
        """Columns of the table."""
        row = self.content_type
        keys = [field for field in self.named_type.fields if field.name not in row.names]
        return StructType([*keys, *row.fields, _STATE])

    @cached_property
    def fit(self) -> Fit:
        """What fits the texts of keys and rows into their columns."""
        of_key, of_row = (row_columns(kind) for kind in (self.named_type, self.content_type))
        return Fit(of_key, of_row, exact=self._exact)

    def unpack(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that are not NULL."""
        return {name: value for name, value in content.items() if value is not None}

    def pack(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns; those of the key are not taken from here."""
        del key
        return dict(values)


Shape: TypeAlias = JsonShape | TypedShape


def arrow_schema(kind: StructType) -> pa.Schema:
    """Return the columns of a type in Arrow."""
    return pa.schema([*arrow_type(kind)])
