"""How the changes of files are applied to tables: what a user asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.applied import ANY, types_by_table
from changewire.engines.effects import EffectsDecoder, LeanEffectsDecoder
from changewire.engines.merge.delta import check_path
from changewire.engines.options import TableOptions
from changewire.engines.typed.decode import CheckedEffectsDecoder
from changewire.engines.typed.schemas import given_columns
from changewire.tables.names import Target, absolute, is_path, template_of
from changewire.tables.reserved import reserved_places
from changewire.tables.routing import Routing

Rows: TypeAlias = Literal["json", "embedded"] | pa.Schema
"""How one table has its rows."""

_TABLE = "(a table)"


@dataclass(frozen=True)
class LocalOptions:
    """How changes are applied.

    Attributes:
        decode_options: How messages are read.
        tables: How tables are written.
        routing: How sources find their tables.
        log: Path of the log.
        rows: How tables have their rows, by the name of a source; `ANY` for all others.
        adopts: Whether tables of other logs and queries are taken over.
    """

    decode_options: DecodeOptions
    tables: TableOptions
    routing: Routing
    log: str
    rows: Mapping[str, Rows]
    adopts: bool = False

    @property
    def keeps_deleted(self) -> bool:
        """Whether deleted rows stay in tables."""
        return self.tables.deletes == "flag"

    @property
    def are_typed(self) -> bool:
        """Whether a table has columns of a type."""
        return any(not isinstance(one, str) or one != "json" for one in self.rows.values())

    @property
    def has_embedded(self) -> bool:
        """Whether a table has the columns that the schemas in messages declare."""
        return any(isinstance(one, str) and one == "embedded" for one in self.rows.values())

    def rows_of(self, target: Target) -> Rows:
        """Return how a table has its rows."""
        name = ".".join(target.origin)
        return self.rows.get(name, self.rows.get(ANY, "json"))

    def decoder(self) -> EffectsDecoder:
        """Return what decodes messages; rows of one type for all tables are checked by it."""
        only = self.rows.get(ANY) if len(self.rows) == 1 else None
        if only is not None and not isinstance(only, str):
            return CheckedEffectsDecoder(self.decode_options, only)
        kind = EffectsDecoder if self.has_embedded else LeanEffectsDecoder
        return kind(self.decode_options)


def local_options(
    decode_options: DecodeOptions, asked: TableOptions, *, log: str, adopt_table: bool = False
) -> LocalOptions:
    """Return options, checked."""
    for place in (log, asked.target):
        if not is_path(place):
            raise ValueError(f"delta-rs has paths, and {place!r} has no slash: it is a name")
    if asked.view is not None:
        raise ValueError("views are made by Spark; a run without it has none")
    template, log = template_of(asked.target), absolute(log)
    for path in (log, template.text.format(**dict.fromkeys(template.fields, _TABLE))):
        check_path(path)
    reserved, by_table = reserved_places(template, [log]), types_by_table(asked.row_schema)
    return LocalOptions(
        decode_options=decode_options,
        tables=asked,
        routing=Routing(template, asked.default_table, reserved, asked.max_new_tables),
        log=log,
        rows={name: _rows(one, decode_options) for name, one in by_table.items()},
        adopts=adopt_table,
    )


def _rows(row_schema: Any, decode_options: DecodeOptions) -> Rows:
    if isinstance(row_schema, str) and row_schema == "json":
        return "json"
    if isinstance(row_schema, str) and row_schema == "embedded":
        embedded.dialect(decode_options.format)
        return "embedded"
    return given_columns(row_schema, decode_options)
