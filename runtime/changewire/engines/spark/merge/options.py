"""How the changes of a log are applied to tables: what a user asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pyspark.sql.types import StructType

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.applied import ANY, types_by_table
from changewire.engines.options import DELETES, MAX_NEW_TABLES, Deletes, Limit, allowed
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.merge.formats import TableFormat, format_of
from changewire.engines.spark.types import struct_of
from changewire.engines.typed.evolve import SchemaEvolution, evolution_of
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
        routing: How sources find their tables.
        log: The log.
        checkpoint: Folder of the query's checkpoint.
        rows: How tables have their rows, by the name of a source; `ANY` for all others.
        evolution: What tables do with columns that they lack.
        deletes: What becomes of deleted rows.
        view: How views of the rows that are not deleted are named; None: there are none.
        apply_as_truncates: Whether truncates are applied.
        max_dead_letters: How many dead letters a batch may have; None for any number.
    """

    decode_options: DecodeOptions
    routing: Routing
    log: LogPlace
    checkpoint: str
    rows: Mapping[str, Rows]
    evolution: SchemaEvolution = "add_columns"
    deletes: Deletes = "remove"
    view: str | None = None
    apply_as_truncates: bool = False
    max_dead_letters: Limit | None = None

    @property
    def format(self) -> TableFormat:
        """The table format."""
        return format_of(self.log.sink)

    @property
    def keeps_deleted(self) -> bool:
        """Whether deleted rows stay in tables."""
        return self.deletes == "flag"

    @property
    def are_typed(self) -> bool:
        """Whether a table has columns of a type."""
        return any(one != "json" for one in self.rows.values())

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
    decode_options: DecodeOptions,
    *,
    target: str,
    log: LogPlace,
    checkpoint: str,
    rows: Any = "json",
    schema_evolution: str = "add_columns",
    deletes: str = "remove",
    view: str | None = None,
    null_set: str | None = None,
    apply_as_truncates: bool = False,
    max_new_tables: int = MAX_NEW_TABLES,
    max_dead_letters: Limit | None = None,
) -> ApplyOptions:
    """Return options, checked; the arguments are those of `apply_changes`.

    Raises:
        ValueError: An argument is not valid.
        ImportError: The rows are a JSON Schema, and the extra ``codegen`` is not installed.
    """
    tables, template = format_of(log.sink), template_of(target)
    if template.is_path and not tables.takes_paths:
        raise ValueError(f"tables of {log.sink} have names, and no paths: {target}")
    if log.is_path and not tables.takes_paths:
        raise ValueError(f"a log of {log.sink} has a name, and no path: {log.target}")
    if deletes not in DELETES:
        raise ValueError(f"deletes is one of {', '.join(DELETES)}, not {deletes!r}")
    if view is not None:
        _check_view(view, template.fields, deletes)
    if max_dead_letters is not None:
        allowed(max_dead_letters, 0)
    reserved = reserved_places(template, [log.target, checkpoint])
    return ApplyOptions(
        decode_options=decode_options,
        routing=Routing(template, null_set, reserved, max_new_tables),
        log=log,
        checkpoint=checkpoint,
        rows={name: _rows(one, decode_options) for name, one in types_by_table(rows).items()},
        evolution=evolution_of(schema_evolution),
        deletes="flag" if deletes == "flag" else "remove",
        view=view,
        apply_as_truncates=apply_as_truncates,
        max_dead_letters=max_dead_letters,
    )


def _check_view(view: str, fields: tuple[str, ...], deletes: str) -> None:
    if deletes != "flag":
        raise ValueError("view is for deletes='flag': otherwise tables have no deleted rows")
    if template_of(view).fields != fields or template_of(view).is_path:
        raise ValueError(f"the view {view!r} is a name with the fields of the target")


def _rows(rows: Any, decode_options: DecodeOptions) -> Rows:
    if isinstance(rows, str) and rows == "json":
        return "json"
    if isinstance(rows, str) and rows == "embedded":
        embedded.dialect(decode_options.format)
        return "embedded"
    return struct_of(given_columns(rows, decode_options))
