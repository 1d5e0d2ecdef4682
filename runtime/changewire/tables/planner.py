"""How a batch of changes is applied to tables, whatever keeps them.

`plan` finds the tables of each change and pairs the images of updates, `decide` says what each row
becomes, `write` writes that. Nothing is written before all is decided: a change that cannot be
applied, for a reason of its own, is left out of every table, and the others are applied.

A store of tables implements `ChangeBatch`, `TableMerge` and `TableRegistry`. There are three: the
tables in memory (`changewire.tables.apply`), those of delta-rs and those of Spark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from changewire.tables.names import Target
from changewire.tables.routing import KnownTables, Namespace, RouteKey, Routes, Routing, find_routes

if TYPE_CHECKING:
    from typing_extensions import Self  # typing has it since 3.11

BatchT = TypeVar("BatchT", bound="ChangeBatch")
BatchT_contra = TypeVar("BatchT_contra", bound="ChangeBatch", contravariant=True)
MergeT = TypeVar("MergeT")
DecisionsT = TypeVar("DecisionsT")
FailuresT = TypeVar("FailuresT")
ResultT = TypeVar("ResultT")

Action = Callable[[], Counter[str]]
"""Writes what was decided on a table, and returns what became of the changes."""


@dataclass(frozen=True)
class BatchSummary:
    """Where the changes of a batch come from, and how many concern no row.

    Attributes:
        route_keys: Where changes come from, in the order in which they find their tables.
        changes: How many changes there are.
        key_missing: How many have no key; they go nowhere.
        lone_before_unused: How many are an unpaired before-image that changes nothing.
    """

    route_keys: list[RouteKey]
    changes: int
    key_missing: int
    lone_before_unused: int


class ChangeBatch(Protocol):
    """The changes of a batch; each method returns another one."""

    def routed(self, routes: Routes) -> Self:
        """Return the batch in which changes are refused that no table can take.

        Args:
            routes: Where changes go; tables that cannot be planned are taken from it.
        """
        ...

    def paired(self) -> tuple[Self, int]:
        """Return the batch with the images of updates paired, and how many updates had both."""
        ...


class TableMerge(Protocol[DecisionsT, FailuresT]):
    """What a batch does to one table."""

    def decide(self) -> DecisionsT:
        """Decide what each row becomes; nothing is written but a table that is not there."""
        ...

    def failures(self, decisions: DecisionsT) -> FailuresT | None:
        """Return the changes of the batch that cannot be applied; None if all can."""
        ...

    def without(self, failures: FailuresT) -> Self:
        """Return what the batch does without some of its changes."""
        ...

    def write(self, decisions: DecisionsT) -> Counter[str]:
        """Write what was decided, tombstones first; return what became of the changes.

        A retry changes nothing. If another writer came first, the rows are decided anew.
        """
        ...


class TableRegistry(Protocol[BatchT_contra]):
    """What a store keeps of the tables that were fed, from batch to batch."""

    def keep_deletes(self, batch: BatchT_contra) -> None:
        """Keep the deletes of a batch that name no table, for tables to come."""
        ...

    def keep_tables(self, added: list[tuple[Target, Namespace]]) -> None:
        """Keep the tables that a batch was the first to feed."""
        ...


@dataclass(frozen=True)
class BatchPlan(Generic[BatchT]):
    """A batch whose changes have found their tables.

    Attributes:
        batch: The batch.
        routes: Which tables.
        counts: How many changes concern no row.
    """

    batch: BatchT
    routes: Routes
    counts: Counter[str]


@dataclass(frozen=True)
class DecidedMerges(Generic[DecisionsT, FailuresT]):
    """What a batch does to its tables, and what was decided.

    Attributes:
        merges: What it does to each table, without the changes that cannot be applied.
        failures: Which changes cannot be applied.
    """

    merges: list[tuple[TableMerge[DecisionsT, FailuresT], DecisionsT]]
    failures: list[FailuresT]


def plan(
    batch: BatchT, summary: BatchSummary, routing: Routing, known: KnownTables
) -> BatchPlan[BatchT]:
    """Find the tables of a batch, new ones too, and pair the images of its updates."""
    routes = find_routes(summary.route_keys, routing, known)
    routed, unused = batch.routed(routes), summary.lone_before_unused
    if unused:
        routed, number = routed.paired()
        unused -= number
    counts = Counter(key_missing=summary.key_missing, lone_before_unused=unused)
    return BatchPlan(routed, routes, counts)


def one_by_one(actions: Iterable[Callable[[], ResultT]]) -> Iterator[ResultT]:
    """Yield what functions return, called one after the other."""
    return (action() for action in actions)


def decide(
    merges: Iterable[TableMerge[DecisionsT, FailuresT]],
    run: Callable[[list[Callable[[], DecisionsT]]], Iterable[DecisionsT]] = one_by_one,
) -> DecidedMerges[DecisionsT, FailuresT]:
    """Decide what a batch does to its tables, without the changes that cannot be applied.

    A change that fails in one table has no part in the others, so that it is applied as a whole
    when it is replayed.

    Args:
        merges: What it does to each table.
        run: Decides on tables, in any order, and returns what the functions return.

    Raises:
        ConflictError: Other writers did not let it be done.
        OutputError: A table has other columns, or the store cannot write it.
    """
    left = [*merges]
    failures: list[FailuresT] = []
    while True:
        pairs = [*zip(left, run([merge.decide for merge in left]), strict=True)]
        found = (merge.failures(decisions) for merge, decisions in pairs)
        new = [one for one in found if one is not None]
        if not new:
            return DecidedMerges(pairs, failures)
        failures += new
        for one in new:
            left = [merge.without(one) for merge in left]


def write(
    planned: BatchPlan[BatchT],
    decided: DecidedMerges[DecisionsT, FailuresT],
    registry: TableRegistry[BatchT],
    run: Callable[[list[Action]], Iterable[Counter[str]]] = one_by_one,
) -> Counter[str]:
    """Write what was decided, and keep what later batches need; a retry changes nothing.

    Args:
        planned: The batch, without the changes that cannot be applied.
        decided: What it does to its tables.
        registry: Keeps what is known of tables.
        run: Writes tables, in any order, and returns what the functions return.

    Returns:
        What became of the changes, as `changewire.tables.Result.counts` has it.

    Raises:
        ConflictError: Other writers did not let it be done.
        OutputError: A table has other columns, or the store cannot write it.
    """
    registry.keep_deletes(planned.batch)
    counts = Counter(planned.counts)
    for written in run([partial(merge.write, found) for merge, found in decided.merges]):
        counts += written
    registry.keep_tables(planned.routes.added)
    return +counts
