"""Batches applied to tables of delta-rs, and what their checkpoint keeps.

The checkpoint is that of the Spark engine, see `changewire.engines.kept`. Spark counts its batches
from 0. A batch here has a negative number, made of what it keeps, so that one that is retried
overwrites its folder, and none of the other engine's.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from changewire.engines.collected import (
    as_dead_letters,
    batch_of,
    deletes_for_all,
    keyed_mutation,
    logged_of,
)
from changewire.engines.delta.columns import EFFECTS_KEPT, TARGETS
from changewire.engines.delta.history import DeltaHistory, delta_history
from changewire.engines.delta.history_tables import check_versions, keep_versions
from changewire.engines.delta.merge import DeltaDecisions, DeltaMerge
from changewire.engines.delta.plan import DeltaBatch
from changewire.engines.delta.shapes import JSON
from changewire.engines.effects import check_keys
from changewire.engines.kept import (
    BATCH,
    DELETES,
    TABLES,
    TableHistory,
    known_from,
    table_history,
    target_rows,
)
from changewire.engines.typed.plan import TypedTables
from changewire.engines.typed.sources import sources_in
from changewire.tables.batch import KeyedMutation
from changewire.tables.names import Target, Template
from changewire.tables.planner import BatchPlan, DecidedMerges, decide, plan, write
from changewire.tables.routing import KnownTables, Namespace, Refusal, Routing
from changewire.tables.version_rows import VersionNames

_FILE: Final = "part-00000.parquet"
_NUMBER_BYTES: Final = 7
"""Of a digest, so that a number is one of 64 bits with its sign."""


class DecidedRows(NamedTuple):
    """A batch whose changes are decided on.

    Attributes:
        rows: Decoded rows; those of changes that cannot be applied are dead letters.
        planned: Where the others go.
        merges: What they do to each table.
        histories: What they do to the versions of each table's rows.
    """

    rows: pa.Table
    planned: BatchPlan[DeltaBatch]
    merges: DecidedMerges[DeltaDecisions, dict[int, Refusal]]
    histories: list[DeltaHistory]


@dataclass
class DeltaStore:
    """The tables of a run, and how changes are applied to them.

    Attributes:
        routing: How sources find their targets; these are paths.
        checkpoint: Folder that keeps what is known of tables.
        format: Public name of the messages' format.
        apply_as_truncates: Whether truncates are applied.
        typed: How tables get their columns; None if they have rows of JSON text.
        history: How tables of versions are named; None without any.
        history_names: How their columns are named.
        known: Tables that were fed.
        counts: What became of changes in tables.
        versions: What became of versions of rows, as `VersionWrite.effect`.
    """

    routing: Routing
    checkpoint: str
    format: str
    apply_as_truncates: bool = False
    typed: TypedTables | None = None
    history: Template | None = None
    history_names: VersionNames = "plain"
    known: KnownTables = field(init=False)
    counts: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Read what earlier runs knew."""
        self.known = known_from(_read(self.checkpoint, TABLES, TARGETS))

    def decide(self, rows: pa.Table) -> DecidedRows:
        """Decide what a batch does to its tables; changes that cannot be applied are left out.

        Nothing is written but tables that are not there yet, without rows.

        Args:
            rows: Decoded rows with `EFFECTS`.

        Raises:
            KeysMissingError: No change has a key, and none ever had.
            OutputError: A table has other columns, or is not for delta-rs to write.
        """
        changes = batch_of(rows, with_truncates=self.apply_as_truncates)
        sources = sources_in(changes, rows, are_typed=self.typed is not None)
        check_keys(sources, self.known)
        batch = DeltaBatch(rows, changes, sources, self.typed)
        planned = plan(batch, sources, self.routing, self.known)
        merges = decide([*self._merges(planned)])
        left = planned.batch.without(*merges.failures)
        landing = as_dead_letters(rows, left.changes.refused, self.format)
        planned = replace(planned, batch=left)
        return DecidedRows(landing, planned, merges, [*self._histories(planned)])

    def write(self, decided: DecidedRows) -> None:
        """Write what a batch does to its tables; a retry changes nothing.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: A table has other columns, or is not for delta-rs to write.
        """
        for history in decided.histories:
            self.versions += history.write()
        registry = DeltaCheckpoint(self.checkpoint, decided.rows)
        self.counts += write(decided.planned, decided.merges, registry)

    def _merges(self, planned: BatchPlan[DeltaBatch]) -> Iterator[DeltaMerge]:
        added = _added(planned)
        batch, changes = planned.batch, planned.batch.changes
        afters = [] if self.typed is None else batch.rows["after"].to_pylist()
        for target, keys in planned.routes.targets.items():
            earlier = self._earlier(added.get(target, []))
            shape = batch.tables[target].shape
            found = (shape or JSON).fitted(changes.mutations_of(keys, earlier), afters)
            truncate, place = changes.newest_truncate(keys), self._place(target)
            if place is not None:
                check_versions(target.name, place)
            yield DeltaMerge(found, target.name, shape, truncate, place)

    def _histories(self, planned: BatchPlan[DeltaBatch]) -> Iterator[DeltaHistory]:
        """Yield what a batch does to versions, each checked; tables are there by now."""
        added, batch = _added(planned), planned.batch
        for target, keys in planned.routes.targets.items():
            place = self._place(target)
            if place is not None:
                shape = batch.tables[target].shape
                keep_versions(place, shape)
                changes = logged_of(batch.rows, batch.changes, keys)
                yield delta_history(changes, self._earlier(added.get(target, [])), place, shape)

    def _place(self, target: Target) -> TableHistory | None:
        return table_history(self.history, self.history_names, target)

    def _earlier(self, namespaces: Collection[Namespace]) -> Iterator[KeyedMutation]:
        """Yield the deletes that came before a table of some namespaces was known."""
        deletes = _kept_deletes(self.checkpoint, namespaces) if namespaces else ()
        return (keyed_mutation(row, None) for row in deletes)


def _added(planned: BatchPlan[DeltaBatch]) -> dict[Target, list[Namespace]]:
    """Return the tables that a batch is the first to feed, with where their changes come from."""
    found: dict[Target, list[Namespace]] = {}
    for target, namespace in planned.routes.added:
        found.setdefault(target, []).append(namespace)
    return found


class DeltaCheckpoint(NamedTuple):
    """Keeps what later batches need; see `changewire.tables.planner.TableRegistry`."""

    folder: str
    rows: pa.Table

    def keep_deletes(self, batch: DeltaBatch) -> None:
        """Keep deletes that name no table, for tables to come."""
        _write([*deletes_for_all(self.rows, batch.changes)], self.folder, DELETES, EFFECTS_KEPT)

    def keep_tables(self, added: list[tuple[Target, Namespace]]) -> None:
        """Keep the tables that the batch was the first to feed."""
        _write(target_rows(added), self.folder, TABLES, TARGETS)


def _kept_deletes(checkpoint: str, namespaces: Collection[Namespace]) -> Iterator[dict[str, Any]]:
    """Yield kept deletes of some namespaces."""
    for row in _read(checkpoint, DELETES, EFFECTS_KEPT):
        if (row["source"]["system"], row["source"]["database"]) in namespaces:
            yield row


def _write(rows: list[dict[str, Any]], checkpoint: str, folder: str, columns: pa.Schema) -> None:
    if not rows:
        return
    digest = hashlib.sha256(msgspec.json.encode(rows)).digest()
    number = -1 - int.from_bytes(digest[:_NUMBER_BYTES], "big")
    place = Path(checkpoint, folder, f"{BATCH}={number}")
    place.mkdir(parents=True, exist_ok=True)
    begun = place / f".{_FILE}"
    pq.write_table(pa.Table.from_pylist(rows, columns), begun)
    begun.replace(place / _FILE)


def _read(checkpoint: str, folder: str, columns: pa.Schema) -> Iterator[dict[str, Any]]:
    place = Path(checkpoint, folder)
    if not place.is_dir():
        return
    numbered = columns.append(pa.field(BATCH, pa.int64()))
    found = ds.dataset(place, schema=numbered, format="parquet", partitioning="hive")
    for batch in found.to_batches():
        yield from batch.to_pylist()
