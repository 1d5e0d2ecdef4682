"""Columns of rows of a type, and of their keys."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


class TypedColumns:
    """Columns of rows, and of their key; columns of the key that the row lacks are text.

    Attributes:
        row: Columns of the row.
        key: Columns of the key.
    """

    def __init__(self, row: pa.Schema, keys: Sequence[str]) -> None:
        """Remember the columns of rows, and find those of the key by their names."""
        fields = {field.name: field for field in row}
        self.row = row
        self.key = pa.schema([fields.get(name, pa.field(name, pa.string())) for name in keys])

    @property
    def key_only(self) -> list[pa.Field]:
        """The columns of the key that the row lacks."""
        return [field for field in self.key if field.name not in self.row.names]
