"""Which columns the tables of a batch have, and which of its changes do not fit them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from changewire.engines.changelog.versions import columns_fault
from changewire.engines.delta.columns import TOMBSTONES
from changewire.engines.delta.shapes import JSON, Shape, TypedShape
from changewire.engines.delta.tables import keys_of, there
from changewire.engines.errors import OutputError, StreamError
from changewire.engines.kept import SUFFIX
from changewire.engines.typed.json_types import StructJson, has_unsafe_names, struct_json
from changewire.engines.typed.plan import TableThere, TypedTables, plans, typed_plan
from changewire.engines.typed.refused import RefusedRows, refused_in
from changewire.engines.typed.sources import BatchSources
from changewire.tables.batch import RowBatch
from changewire.tables.metadata import COLUMN
from changewire.tables.names import Target, beside
from changewire.tables.routing import Refusal, RouteKey, Routes
from changewire.tables.version_rows import VersionNames
from changewire_messages.tables.arrow import ROW_METADATA


class DeltaRsRules(NamedTuple):
    """What tables of delta-rs can have; see `changewire.engines.typed.plan.TableRules`.

    Attributes:
        history_names: How the columns of tables of versions are named; None if there are none.
    """

    history_names: VersionNames | None = None

    def kept(self, columns: StructJson) -> StructJson:
        """Return columns as they are: Delta has all types that rows have."""
        return columns

    def fault(self, columns: StructJson) -> str | None:
        """Return why a table, or that of its versions, cannot have some columns, or None.

        One that has a space in its name would need column mapping.
        """
        for column in columns["fields"]:
            if has_unsafe_names(struct_json([column])):
                name = column["name"]
                return f"column {name!r} needs column mapping, which delta-rs does not write"
        names = (column["name"] for column in columns["fields"])
        return self.history_names and columns_fault(names, self.history_names)

    def widens(self, there: Any, wider: Any) -> bool:
        """Whether a column's type can become a wider one: Spark does that."""
        del there, wider
        return False

    def compares(self, kind: Any) -> bool:
        """Whether values of a type can be compared: a merge by lists or structs fails."""
        return isinstance(kind, str)


class DeltaPlan(NamedTuple):
    """How one table has its rows, and what does not fit it.

    Attributes:
        shape: How it has its rows; None while its columns or its key are not known.
        refusals: Which changes do not fit it.
        is_usable: Whether any change can be applied to it.
    """

    shape: Shape | None
    refusals: list[RefusedRows]
    is_usable: bool = True


@dataclass(frozen=True)
class DeltaBatch:
    """A batch as `changewire.tables.planner` plans it.

    Attributes:
        rows: All its decoded rows.
        changes: Its changes.
        sources: Where they come from.
        typed: How tables get their columns; None if they have rows of JSON text.
        tables: How each table has its rows; empty until the batch is routed.
    """

    rows: pa.Table
    changes: RowBatch
    sources: BatchSources
    typed: TypedTables | None
    tables: Mapping[Target, DeltaPlan] = field(default_factory=dict)

    def routed(self, routes: Routes) -> DeltaBatch:
        """Return the batch in which changes are refused that no table can take."""
        one = partial(_plan, sources=self.sources, typed=self.typed)
        tables, refusals = plans(routes, one, (StreamError,))
        changes = self.changes.routed(routes)
        refused = refused_in(changes, self.rows, refusals)
        return replace(self, changes=changes.without(refused), tables=tables)

    def paired(self) -> tuple[DeltaBatch, int]:
        """Return the batch with the images of updates paired, and how many updates had both."""
        changes, number = self.changes.paired()
        return replace(self, changes=changes), number

    def without(self, *failures: Mapping[int, Refusal]) -> DeltaBatch:
        """Return the batch in which more changes are refused."""
        return replace(self, changes=self.changes.without(*failures))


def _plan(
    target: Target, routes: list[RouteKey], sources: BatchSources, typed: TypedTables | None
) -> DeltaPlan:
    """Return how a table has its rows after a batch.

    Raises:
        OutputError: A table was not made by changewire, or columns of a type that the user gave do
            not fit it.
    """
    if typed is None:
        return DeltaPlan(JSON, [])
    found = typed_plan(_there(target.name), routes, sources, typed)
    if found.columns is None:
        return DeltaPlan(None, found.refusals, found.is_usable)
    try:
        shape = TypedShape(found.columns, found.keys)
    except ValueError as error:
        raise OutputError(f"{target.name}: {error}") from None
    return DeltaPlan(shape, found.refusals)


def _there(name: str) -> TableThere:
    """Return a table as it is."""
    table = there(name, pa.schema([(COLUMN, ROW_METADATA)]))
    tombstones = there(beside(name, SUFFIX), TOMBSTONES)
    keys = None if tombstones is None else keys_of(tombstones)
    if table is None:
        return TableThere(name, None, keys)
    fields = json.loads(table.schema().to_json())["fields"]
    return TableThere(name, struct_json([f for f in fields if f["name"] != COLUMN]), keys)
