"""How the changes of a log are applied to tables: what a user asked for, in each engine."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.changes.sources import by_precedence, matches
from changewire.engines.applied import ANY, types_by_table
from changewire.engines.by_table import Unmatched
from changewire.engines.known import KnownLog
from changewire.engines.options import TableOptions
from changewire.engines.settings import Settings, SettingsByTable
from changewire.engines.typed.evolve import new_fault
from changewire.engines.typed.own import RowOptions
from changewire.engines.typed.schemas import given_columns
from changewire.engines.typed.types import columns_as_json
from changewire.tables.names import Target, Template
from changewire.tables.reserved import reserved_places
from changewire.tables.routing import Routing

Rows: TypeAlias = Literal["json", "auto"] | pa.Schema
"""How one table has its rows."""


_SHOWN: Final = 20
"""Tables that are named at most, next to names that match none."""


@dataclass(frozen=True)
class AppliedOptions:
    """How changes are applied.

    Attributes:
        tables: How tables are written.
        routing: How sources find their tables.
        rows: How tables have their rows, by the name of a source; `ANY` for all others.
        settings: What is asked of some tables.
        key_patterns: Names of tables, and globs, that the option `key_columns` has.
    """

    tables: TableOptions
    routing: Routing
    rows: Mapping[str, Rows]
    settings: SettingsByTable
    key_patterns: Sequence[str]

    @property
    def are_typed(self) -> bool:
        """Whether a table has columns of a type."""
        return ANY not in self.rows or any(one != "json" for one in self.rows.values())

    @property
    def are_auto(self) -> bool:
        """Whether a table has the columns that messages declare or show."""
        return _has_auto(self.rows)

    @property
    def has_json(self) -> bool:
        """Whether a table has its rows as JSON text."""
        return "json" in self.rows.values()

    def rows_of(self, target: Target) -> Rows:
        """Return how a table has its rows."""
        name = ".".join(target.origin)
        return self.rows.get(name, self.rows.get(ANY, "auto"))

    def settings_of(self, names: Iterable[str]) -> Settings:
        """Return what is asked of a table, which has some names."""
        tables = self.tables
        return self.settings.of(names, deletes=tables.deletes, misfits=tables.misfits)

    def row_options(self, target: Target, settings: Settings) -> RowOptions:
        """Return how the values of the changes of a table become columns."""
        rows, asked = self.rows_of(target), settings.misfits
        is_exact = self.tables.numbers == "refuse"
        if isinstance(rows, str):
            return RowOptions(is_exact, asked or "rescue")
        return RowOptions(is_exact, "rescue" if asked == "rescue" else None, frozenset(rows.names))

    def unmatched(self, known: KnownLog) -> list[Unmatched]:
        """Return the names in options that no table has of those that a log has fed."""
        tables = sorted({".".join(target.origin) for target in known.tables.names.values()})
        names = [name for name in self.rows if name != ANY and name not in tables]
        seen, patterns = known.seen, self.settings.patterns
        every = known.all_names() if patterns or self.key_patterns else []

        def unseen(patterns: Iterable[str]) -> list[str]:
            return [one for one in patterns if not any(matches(one, name) for name in every)]

        found = (
            Unmatched("row_schema", names, tables[:_SHOWN]),
            Unmatched("tables", unseen(patterns), every[:_SHOWN]),
            Unmatched("key_columns", unseen(self.key_patterns), every[:_SHOWN]),
            Unmatched("only_tables", [*seen.unmatched_only], seen.names),
            Unmatched("except_tables", [*seen.unmatched_excepted], seen.names),
        )
        return [one for one in found if one.names]


def applied_options(
    decode_options: DecodeOptions | None,
    asked: TableOptions,
    template: Template,
    places: Iterable[str],
) -> dict[str, Any]:
    """Return the attributes of `AppliedOptions`; no table may be at some places."""
    reserved = reserved_places(template, places)
    types = types_by_table(asked.row_schema)
    rows = {name: _rows(one, decode_options) for name, one in types.items()}
    settings = SettingsByTable(asked.tables)
    if settings.all_of("columns") and not _has_auto(rows):
        raise ValueError("the setting columns is for tables with row_schema='auto'")
    return {
        "tables": asked,
        "routing": Routing(
            template,
            default_table=asked.default_table,
            reserved=reserved,
            max_new_tables=asked.max_new_tables,
            one_table=asked.one_table,
            chosen=asked.chosen,
        ),
        "rows": rows,
        "settings": settings,
        "key_patterns": _key_patterns(decode_options, settings),
    }


def warn_unmatched(options: AppliedOptions, known: KnownLog, function: str = "rebuild") -> None:
    """Log a warning of each option of a function that names what no table of a log is called."""
    for one in options.unmatched(known):
        named = "settings" if one.option == "tables" else one.option
        logging.getLogger(f"changewire.{function}").warning("%s", one._replace(option=named))


def _key_patterns(decode_options: DecodeOptions | None, settings: SettingsByTable) -> list[str]:
    """Return the tables, or globs of them, for which `key_columns` names columns."""
    keys = None if decode_options is None else decode_options.key_columns
    if not isinstance(keys, Mapping) or settings.all_of("key_columns"):
        return []
    return by_precedence(keys)


def _has_auto(rows: Mapping[str, Rows]) -> bool:
    """Whether a table has the columns that messages declare or show."""
    is_auto = (isinstance(one, str) and one == "auto" for one in rows.values())
    return ANY not in rows or any(is_auto)


def _rows(row_schema: Any, decode_options: DecodeOptions | None) -> Rows:
    if isinstance(row_schema, str) and row_schema == "json":
        return "json"
    if isinstance(row_schema, str) and row_schema in {"auto", "embedded"}:
        return "auto"
    return _of_table(given_columns(row_schema, decode_options))


def _of_table(columns: pa.Schema) -> pa.Schema:
    """Return columns that a user gave, all of which a table can have."""
    names: dict[str, str] = {}
    for column in columns_as_json(columns)["fields"]:
        name = column["name"]
        is_double = names.get(name.lower()) == name
        fault = f"expected one column {name!r}, found more" if is_double else None
        fault = fault or new_fault(names, name, column["type"])
        if fault is not None:
            raise ValueError(f"row_schema: {fault}")
        names[name.lower()] = name
    return columns
