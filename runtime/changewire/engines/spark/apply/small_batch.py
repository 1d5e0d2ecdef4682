"""A batch of few changes: collected once, and decided on in the driver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from changewire.engines.changelog.logged import LoggedChange
from changewire.engines.collected import as_dead_letters, batch_of, keyed_mutation, logged_of
from changewire.engines.counts import Counts
from changewire.engines.effects import EFFECTS
from changewire.engines.layout import RECORD_PLACE
from changewire.engines.python.groups import count
from changewire.engines.spark.apply.effects import with_effects
from changewire.engines.spark.apply.failures import (
    FAILURE,
    FAILURE_FIELD,
    ROW_ID,
    ROW_ID_FIELD,
    failed,
)
from changewire.engines.spark.apply.local import LocalEffects, local_effects
from changewire.engines.spark.apply.making import local_frame
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.plan import TablePlan, plans
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.decode import DecodedFrames, RowsAs
from changewire.engines.spark.types import ROWS
from changewire.engines.typed.refused import refused_in
from changewire.engines.typed.sources import BatchSources, sources_in
from changewire.tables.batch import RowBatch
from changewire.tables.names import Target
from changewire.tables.order import Order
from changewire.tables.routing import Refusal, RouteKey, Routes

FEW: Final = 2_000
"""Rows of a batch up to which it is decided on in the driver."""

_LONGEST: Final = 2**15
"""Bytes of the texts of such a row at most: the driver holds all of them."""

_TEXTS: Final = ("key", "before_key", "before", "after", "attributes", "message")
_PLAIN: Final = (
    *("kind", "op", "code", "format", "pointer", "event_time", "elements", "leniencies"),
    *(*RECORD_PLACE, "element", "schema_fingerprint", ROW_ID),
)
_STRUCTS: Final = ("source", "sequence", EFFECTS)
_IS_LONG: Final = "_is_long"


@cache
def _selected(*, with_messages: bool) -> tuple[str, ...]:
    """Return what is collected as SQL has it, with `_IS_LONG` for rows with texts that are long."""
    texts = (*_TEXTS, "value") if with_messages else _TEXTS
    size = " + ".join(f"coalesce(octet_length(`{name}`), 0)" for name in texts)
    is_long = f"{size} > {_LONGEST}"
    short = {name: f"if({is_long}, NULL, `{name}`)" for name in (*texts, EFFECTS)}
    kinds = with_effects(ROWS)
    # Arrow takes no NULL for a struct whose fields are never NULL.
    types = {name: kinds[name].dataType.simpleString() for name in _STRUCTS}
    structs = {name: f"cast({short.get(name, name)} AS {types[name]})" for name in _STRUCTS}
    found = {**short, **{name: f"`{name}`" for name in _PLAIN}, **structs, _IS_LONG: is_long}
    return tuple(f"{text} AS `{name}`" for name, text in found.items())


class NotSmallError(Exception):
    """Deciding on a batch takes more than the driver is to hold."""


def collected(rows: DataFrame, *, with_messages: bool) -> pa.Table | None:
    """Return what deciding on a batch takes of its rows; None if there are many, or long ones.

    One job, which is also the one that computes the rows if they are to be kept.

    Args:
        rows: Decoded rows with effects and `ROW_ID`.
        with_messages: Whether the messages are needed, for the schemas that stand in them.
    """
    found = rows.selectExpr(*_selected(with_messages=with_messages)).limit(FEW + 1).toArrow()
    is_small = len(found) <= FEW and not any(found[_IS_LONG].to_pylist())
    return found.combine_chunks() if is_small else None


@dataclass(frozen=True)
class SmallBatch:
    """A batch that is decided on in the driver, as `changewire.tables.planner` plans it.

    Attributes:
        kept: All its decoded rows in Spark, with `ROW_ID`.
        rows: The same here, as `collected` returns them.
        changes: Its changes.
        sources: Where they come from.
        options: How changes are applied.
        tables: How each table has its rows; empty until the batch is routed.
    """

    kept: DataFrame
    rows: pa.Table
    changes: RowBatch
    sources: BatchSources
    options: ApplyOptions
    tables: dict[Target, TablePlan]

    def routed(self, routes: Routes) -> SmallBatch:
        """Return the batch in which changes are refused that no table can take."""
        tables, refusals = plans(self.kept.sparkSession, routes, self.sources, self.options)
        changes = self.changes.routed(routes)
        refused = refused_in(changes, self.rows, refusals)
        return replace(self, changes=changes.without(refused), tables=tables)

    def paired(self) -> tuple[SmallBatch, int]:
        """Return the batch with the images of updates paired, and how many updates had both."""
        changes, number = self.changes.paired()
        return replace(self, changes=changes), number

    def without(self, failures: list[dict[int, Refusal]]) -> SmallBatch:
        """Return the batch in which more changes are dead letters."""
        return replace(self, changes=self.changes.without(*failures))

    def effects(
        self, keys: list[RouteKey], shape: Shape, earlier: DataFrame | None
    ) -> LocalEffects:
        """Return what the changes from some sources, and earlier deletes, do to a table.

        Raises:
            NotSmallError: There are many earlier deletes.
        """
        deletes = [] if earlier is None else earlier.limit(FEW + 1).toArrow().to_pylist()
        if len(deletes) > FEW:
            raise NotSmallError
        found = (keyed_mutation(row, None) for row in deletes)
        mutations = self.changes.mutations_of(keys, found)
        afters = self.rows["after"].to_pylist()
        return local_effects(self.kept.sparkSession, mutations, afters, shape)

    def newest_truncate(self, keys: list[RouteKey]) -> Order:
        """Return the order of the newest truncate that comes from some sources."""
        return self.changes.newest_truncate(keys)

    def logged(self, keys: list[RouteKey]) -> list[LoggedChange]:
        """Return the changes and truncates from some sources, as a change log has them."""
        return [*logged_of(self.rows, self.changes, keys)]

    @property
    def landing(self) -> DataFrame:
        """Decoded rows with `ROW_ID`; changes that cannot be applied are dead letters."""
        refused = self.changes.refused
        if not refused:
            return self.kept
        numbers = self.rows[ROW_ID].to_pylist()
        rows = [{ROW_ID: numbers[index], FAILURE: why._asdict()} for index, why in refused.items()]
        kind = StructType([ROW_ID_FIELD, FAILURE_FIELD])
        failures = local_frame(self.kept.sparkSession, rows, kind)
        return failed(self.kept, failures, self.options.decode_options.format)

    def landed(self, rows_as: RowsAs) -> DecodedFrames:
        """Return what lands, with its counts."""
        name = self.options.decode_options.format
        counts = Counts()
        for part in as_dead_letters(self.rows, self.changes.refused, name).to_batches():
            count(part, counts)
        return DecodedFrames(self.landing.drop(ROW_ID), rows_as, counts)


def small_batch(kept: DataFrame, rows: pa.Table, options: ApplyOptions) -> SmallBatch:
    """Return a batch of which all rows were collected."""
    changes = batch_of(rows, with_truncates=options.apply_as_truncates)
    sources = sources_in(changes, rows, are_typed=options.are_typed)
    return SmallBatch(kept, rows, changes, sources, options, {})
