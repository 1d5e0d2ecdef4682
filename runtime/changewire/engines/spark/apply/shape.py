"""How a table has its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from pyspark.sql import Column
from pyspark.sql.types import DataType, StringType, StructField, StructType

from changewire.engines.json_rows import COMMENTS, KEY, ROW, packed, unpacked
from changewire.engines.spark.apply.metadata import METADATA
from changewire.tables.metadata import COLUMN

_TYPES: Final[Mapping[str, DataType]] = {KEY: StringType(), ROW: StringType(), COLUMN: METADATA}


class Shape(Protocol):
    """How a table has its rows; it pickles.

    Attributes:
        content_type: Type of a row's content while it is decided on.
        columns: Columns of the table.
        keys: Those that name the row.
    """

    @property
    def content_type(self) -> DataType: ...  # noqa: D102 - see above

    @property
    def columns(self) -> StructType: ...  # noqa: D102 - see above

    @property
    def keys(self) -> tuple[str, ...]: ...  # noqa: D102 - see above

    def of_message(self, text: str) -> dict[str, Any]:
        """Return the columns of a row as a message has it, JSON text; None for what is null."""
        ...

    def unpack(self, content: Any) -> dict[str, Any]:
        """Return the columns of a row's content; None for what is null."""
        ...

    def pack(self, key: str, values: Mapping[str, Any]) -> Any:
        """Return a row's content.

        Args:
            key: The key as `changewire.tables.keys.key_text`.
            values: The columns, with or without those of the key.
        """
        ...

    def key_text(self, row: Column) -> Column:
        """Return the text of a key that no effect has, by the row as a struct of its columns."""
        ...

    def key_columns(self, key: Column) -> dict[str, Column]:
        """Return the table's columns of a key, by the key's text."""
        ...

    def row_columns(self, key: Column, content: Column) -> dict[str, Column]:
        """Return the table's columns but `COLUMN`, by the key's text and the row's content."""
        ...

    def content(self, row: Column) -> Column:
        """Return a row's content, by the row as a struct of the table's columns."""
        ...


class JsonShape:
    """Rows of JSON text: the columns ``key`` and ``row``."""

    content_type: DataType = StringType()
    columns = StructType(
        [
            StructField(name, _TYPES[name], metadata={"comment": text})
            for name, text in COMMENTS.items()
        ]
    )
    keys: tuple[str, ...] = ("key",)

    def of_message(self, text: str) -> dict[str, Any]:
        """Return the columns of a row, each as the JSON text that it was."""
        return unpacked(text)

    def unpack(self, content: str) -> dict[str, Any]:
        """Return the same of the column ``row``."""
        return unpacked(content)

    def pack(self, key: str, values: Mapping[str, Any]) -> str:
        """Return the row, the columns of its key first."""
        return packed(key, values)

    def key_text(self, row: Column) -> Column:
        """Return the key's text."""
        return row["key"]

    def key_columns(self, key: Column) -> dict[str, Column]:
        """Return the key's text."""
        return {"key": key}

    def row_columns(self, key: Column, content: Column) -> dict[str, Column]:
        """Return both as they are."""
        return {"key": key, "row": content}

    def content(self, row: Column) -> Column:
        """Return the row's text."""
        return row["row"]
