"""What planning knows of a table, and of what tables of its format can have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from changewire.engines.partitions import Layout
from changewire.engines.settings import Deletes
from changewire.engines.typed.own import RowOptions
from changewire.engines.typed.types import StructJson
from changewire.tables.names import Target

ShapeT = TypeVar("ShapeT")
ShapeT_co = TypeVar("ShapeT_co", covariant=True)


RESERVED: Final[Mapping[str, frozenset[str]]] = {
    # https://docs.delta.io/latest/delta-change-data-feed.html
    "delta": frozenset({"_change_type", "_commit_version", "_commit_timestamp"}),
    # https://iceberg.apache.org/spec/#reserved-field-ids
    "iceberg": frozenset(
        {"_file", "_pos", "_deleted", "_spec_id", "_partition"}
        | {"_row_id", "_last_updated_sequence_number"}
    ),
}
"""Names that table formats keep for columns of their own."""


def reserved_fault(
    table_format: str, columns: StructJson, there: Collection[str] = ()
) -> str | None:
    """Return why a table cannot have columns that it lacks, by their names; None if it can."""
    names = (one["name"] for one in columns["fields"] if one["name"] not in there)
    for name in names:
        if name.lower() in RESERVED[table_format]:
            return f"column {name!r} has a name that the table format keeps for itself"
    return None


class TableRules(Protocol[ShapeT_co]):
    """What tables of a format can have; types are in the JSON form of a StructType."""

    def kept(self, columns: StructJson) -> StructJson:
        """Return columns with the types that a table has for theirs."""
        ...

    def fault(self, columns: StructJson) -> str | None:
        """Return why a table cannot have some columns; None if it can."""
        ...

    def widens(self, there: Any, wider: Any) -> bool:
        """Whether a column's type can become another one, which has all of its values."""
        ...

    def compares(self, kind: Any) -> bool:
        """Whether values of a type, which has no map, can be compared, so that they name rows."""
        ...

    def part_fault(self, name: str, kind: Any, *, is_key: bool) -> str | None:
        """Return why a new table cannot be partitioned by a column; None if it can."""
        ...

    def shape(
        self, columns: StructJson | None, keys: tuple[str, ...], how: RowOptions
    ) -> ShapeT_co:
        """Return how a table has its rows, JSON text without columns; or raise a ValueError."""
        ...


class TableThere(NamedTuple):
    """A table before a batch, with None for missing or unknown columns and keys.

    `named` are the columns that may be written although the batch does not name them, None for all;
    `is_text` is whether its rows are JSON text; `given` are the columns of types that a user gave;
    `layout` is None if the table is made or replaced, or if nothing else is asked of it; `deletes`
    is None if the table may do either with deleted rows.
    """

    target: Target
    columns: StructJson | None
    keys: tuple[str, ...] | None
    named: frozenset[str] | None = None
    is_text: bool = False
    given: frozenset[str] = frozenset()
    layout: Layout | None = None
    deletes: Deletes | None = None

    @property
    def types(self) -> dict[str, Any]:
        """The types of its columns by their names; none if it is missing."""
        fields = () if self.columns is None else self.columns["fields"]
        return {one["name"]: one["type"] for one in fields}
