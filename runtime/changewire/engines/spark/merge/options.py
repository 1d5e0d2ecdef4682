"""How the changes of a log are applied to tables: what a user asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pyspark.sql.types import StructType

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.applied import ANY, types_by_table
from changewire.engines.options import TableOptions
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.merge.formats import TableFormat, format_of
from changewire.engines.spark.types import struct_of
from changewire.engines.typed.schemas import given_columns
from changewire.tables.names import Target, template_of
from changewire.tables.reserved import reserved_places
from changewire.tables.routing import Routing

Rows = Literal["json", "embedded"] | StructType
"""How one table has its rows."""


@dataclass(frozen=True)
class ApplyOptions:
    """How the changes of a log are applied.

    Attributes:
        decode_options: How messages are read.
        tables: How tables are written.
        routing: How sources find their tables.
        log: The log.
        checkpoint: Folder of the query's checkpoint.
        rows: How tables have their rows, by the name of a source; `ANY` for all others.
    """

    decode_options: DecodeOptions
    tables: TableOptions
    routing: Routing
    log: LogPlace
    checkpoint: str
    rows: Mapping[str, Rows]

    @property
    def format(self) -> TableFormat:
        """The table format."""
        return format_of(self.log.table_format)

    @property
    def keeps_deleted(self) -> bool:
        """Whether deleted rows stay in tables."""
        return self.tables.deletes == "flag"

    @property
    def are_typed(self) -> bool:
        """Whether a table has columns of a type."""
        return any(one != "json" for one in self.rows.values())

    @property
    def has_json(self) -> bool:
        """Whether a table has its rows as JSON text."""
        return "json" in self.rows.values() or ANY not in self.rows

    @property
    def one_type(self) -> StructType | None:
        """The type of the rows of all tables, if there is one."""
        found = self.rows.get(ANY)
        return found if isinstance(found, StructType) and len(self.rows) == 1 else None

    def rows_of(self, target: Target) -> Rows:
        """Return how a table has its rows."""
        name = ".".join(target.origin)
        return self.rows.get(name, self.rows.get(ANY, "json"))


def apply_options(
    decode_options: DecodeOptions, asked: TableOptions, *, log: LogPlace, checkpoint: str
) -> ApplyOptions:
    """Return options, checked.

    Raises:
        ValueError: An option is not valid.
        ImportError: The rows are a JSON Schema, and the extra ``codegen`` is not installed.
    """
    tables, template = format_of(log.table_format), template_of(asked.target)
    if template.is_path and not tables.takes_paths:
        raise ValueError(f"tables of {log.table_format} have names, and no paths: {asked.target}")
    if log.is_path and not tables.takes_paths:
        raise ValueError(f"a log of {log.table_format} has a name, and no path: {log.target}")
    if asked.view is not None:
        _check_view(asked.view, template.fields, asked.deletes)
    reserved = reserved_places(template, [log.target, checkpoint])
    by_table = types_by_table(asked.row_schema)
    return ApplyOptions(
        decode_options=decode_options,
        tables=asked,
        routing=Routing(template, asked.default_table, reserved, asked.max_new_tables),
        log=log,
        checkpoint=checkpoint,
        rows={name: _rows(one, decode_options) for name, one in by_table.items()},
    )


def _check_view(view: str, fields: tuple[str, ...], deletes: str) -> None:
    if deletes != "flag":
        raise ValueError("view is for deletes='flag': otherwise tables have no deleted rows")
    if template_of(view).fields != fields or template_of(view).is_path:
        raise ValueError(f"the view {view!r} is a name with the fields of the target")


def _rows(row_schema: Any, decode_options: DecodeOptions) -> Rows:
    if isinstance(row_schema, str) and row_schema == "json":
        return "json"
    if isinstance(row_schema, str) and row_schema == "embedded":
        embedded.dialect(decode_options.format)
        return "embedded"
    return struct_of(given_columns(row_schema, decode_options))
