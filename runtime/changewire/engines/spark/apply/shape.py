"""Rows of JSON text, and the names of columns while rows are decided on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import DataType, StringType, StructField, StructType

from changewire.engines.json_rows import COMMENTS, KEY, ROW, packed, unpacked
from changewire.tables.metadata import COLUMN
from changewire_messages.tables.spark import ROW_METADATA as METADATA

_TYPES: Final[Mapping[str, DataType]] = {KEY: StringType(), ROW: StringType(), COLUMN: METADATA}

NAMED: Final = "named"
"""Column of fitted effects and of decisions: the table's key columns, as a struct."""

CONTENT: Final = "content"
"""Column of fitted effects and of decisions: the row, in the type that `Shape` has for it."""


class JsonShape:
    """Rows of JSON text: the columns ``key`` and ``row``. It pickles, as `TypedShape` does.

    Attributes:
        content_type: Type of a row's content while it is decided on.
        columns: Columns of the table.
        keys: Names of the key's columns.
        named_type: Columns of the key, as the table has them.
        compared: Column of fitted effects that is equal if and only if two rows are.
        is_typed: Whether rows are columns of a type. Then effects may not fit, and the content of
            those that do is that of rows.
    """

    content_type: DataType = StringType()
    columns = StructType(
        [
            StructField(name, _TYPES[name], metadata={"comment": text})
            for name, text in COMMENTS.items()
        ]
    )
    keys: tuple[str, ...] = (KEY,)
    named_type = StructType([StructField(KEY, StringType())])
    compared = CONTENT
    is_typed = False

    def fitted(self, effects: DataFrame, *, is_known: bool = False) -> DataFrame:  # noqa: ARG002
        """Return effects with `NAMED` and `CONTENT`, which is the text of ``after``."""
        columns = {NAMED: F.struct(KEY), CONTENT: F.col("after")}
        return effects.withColumns(columns).drop("after")

    def fit(self, effects: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the same of effects that are not in Spark."""
        for batch in effects:
            named = pa.StructArray.from_arrays([batch.column("key")], [KEY])
            with_key = batch.append_column(NAMED, named)
            yield with_key.append_column(CONTENT, batch.column("after"))

    def unpack(self, content: str) -> dict[str, Any]:
        """Return the columns of a row, each as the JSON text that it was; None for null."""
        return unpacked(content)

    def pack(self, key: str, values: Mapping[str, Any]) -> str:
        """Return the row, the columns of its key first; `values` may have them or not."""
        return packed(key, values)

    def key_text(self, row: Column) -> Column:
        """Return the text of a key that no effect has, by the row as a struct of its columns."""
        return row[KEY]

    def row_columns(self, named: Column, content: Column) -> dict[str, Column]:
        """Return the table's columns but `COLUMN`, by the key's columns and the row's content."""
        return {KEY: named[KEY], ROW: content}

    def content(self, row: Column) -> Column:
        """Return a row's content, by the row as a struct of the table's columns."""
        return row[ROW]
