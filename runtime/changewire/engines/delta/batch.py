"""One batch, merged into the tables that it feeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from changewire.engines.delta.changes import (
    Changed,
    as_dead_letters,
    changes_of,
    counts_of,
    newest_truncate,
    refusals,
    ways_of,
    with_wholes,
)
from changewire.engines.delta.known import (
    keep_deletes,
    keep_tables,
    kept_deletes,
    known_tables,
)
from changewire.engines.delta.merge import (
    BatchEffect,
    DecidedTable,
    Effects,
    Merge,
    decide,
    write,
)
from changewire.engines.effects import effect_of
from changewire.engines.json_rows import unpacked
from changewire.engines.keys_missing import check_keys
from changewire.tables.effects import DELETE
from changewire.tables.names import Target
from changewire.tables.routing import Namespace, Refusal, Routing, apply_failed, goes_to_all
from changewire.tables.ways import From, Known, Routes, in_order, routes


@dataclass
class Applying:
    """How the changes of a run are applied, and what is known of tables by now.

    Attributes:
        routing: How sources find their targets; these are paths.
        checkpoint: Folder that keeps what is known of tables.
        format: Public name of the messages' format.
        apply_as_truncates: Whether truncates are applied.
        known: Tables that were fed.
        counts: What became of changes in tables.
    """

    routing: Routing
    checkpoint: str
    format: str
    apply_as_truncates: bool = False
    known: Known = field(init=False)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Read what earlier runs knew."""
        self.known = known_tables(self.checkpoint)

    def routed(self, rows: pa.Table) -> Batch:
        """Return a batch whose changes have found their tables, or are dead letters.

        Args:
            rows: Decoded rows with effects.

        Raises:
            KeysMissingError: No change has a key, and none ever had.
        """
        changes = changes_of(rows, with_truncates=self.apply_as_truncates)
        counts = counts_of(changes)
        number = sum(not change.is_truncate for change in changes)
        check_keys(number, counts["key_missing"], self.known)
        found = routes(in_order(ways_of(changes)), self.routing, self.known)
        why = refusals(changes, found.refused)
        good = [change for change in changes if change.index not in why]
        failures: dict[int, Refusal] = {}
        if counts["lone_before_unused"]:
            good, met, failures = with_wholes(good, rows)
            counts["lone_before_unused"] -= met
        batch = Batch(as_dead_letters(rows, why, self.format), changes, good, found, counts)
        return batch.without(failures, self.format) if failures else batch

    def decided(self, batch: Batch) -> Decided:
        """Decide what a batch does to its tables; changes that cannot be applied are left out.

        Nothing is written but tables that are not there yet, without rows.

        Raises:
            OutputError: A table has other columns, or is not for delta-rs to write.
        """
        while True:
            effects, failures = batch.effects(self._earlier(batch.routes))
            pairs = [(merge, decide(merge)) for merge in self._merges(batch, effects)]
            for _, table in pairs:
                failures |= table.decisions.failures
            if not failures:
                return Decided(batch, pairs)
            batch = batch.without(failures, self.format)

    def write(self, decided: Decided) -> None:
        """Write what a batch does to its tables; a retry changes nothing.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: A table has other columns, or is not for delta-rs to write.
        """
        batch = decided.batch
        keep_deletes(self.checkpoint, batch.deletes())
        self.counts += batch.counts
        for merge, first in decided.merges:
            self.counts += write(merge, first)
        keep_tables(self.checkpoint, batch.routes.added)

    def _earlier(self, found: Routes) -> dict[Target, list[dict[str, Any]]]:
        """Return the deletes that came before tables were known."""
        spaces: dict[Target, list[Namespace]] = {}
        for target, namespace in found.added:
            spaces.setdefault(target, []).append(namespace)
        return {target: [*kept_deletes(self.checkpoint, names)] for target, names in spaces.items()}

    @staticmethod
    def _merges(batch: Batch, effects: Mapping[Target, Effects]) -> Iterator[Merge]:
        for target, ways in batch.routes.targets.items():
            truncate = newest_truncate(batch.changes, ways)
            yield Merge(effects[target], target.name, truncate)


class Decided(NamedTuple):
    """What a batch does to its tables.

    Attributes:
        batch: The batch; changes that cannot be applied are dead letters.
        merges: What it does to each table, and what was decided.
    """

    batch: Batch
    merges: list[tuple[Merge, DecidedTable]]


@dataclass(frozen=True)
class Batch:
    """A batch whose changes have found their tables.

    Attributes:
        rows: Decoded rows; those of changes that no table takes are dead letters.
        changes: All changes, and the truncates that are applied.
        good: Those that tables take.
        routes: Which tables.
        counts: How many changes concern no row.
    """

    rows: pa.Table
    changes: list[Changed]
    good: list[Changed]
    routes: Routes
    counts: Counter[str]

    def without(self, failures: Mapping[int, Refusal], format: str) -> Batch:
        """Return the batch with dead letters in place of changes that cannot be applied.

        Args:
            failures: Why, by row.
            format: Public name of the messages' format.
        """
        good = [change for change in self.good if change.index not in failures]
        return replace(self, rows=as_dead_letters(self.rows, failures, format), good=good)

    def deletes(self) -> Iterator[dict[str, Any]]:
        """Yield what deletes do that go to all tables of their database."""
        for change in self.good:
            source, way = change.way
            if goes_to_all(way, source):
                for row in change.rows():
                    yield {**row, "source": msgspec.structs.asdict(source)}

    def effects(
        self, earlier: Mapping[Target, Iterable[dict[str, Any]]]
    ) -> tuple[dict[Target, Effects], dict[int, Refusal]]:
        """Return what the changes do to each table, and why some cannot be applied.

        Args:
            earlier: Deletes that came before tables were known.
        """
        failures: dict[int, Refusal] = {}
        of_ways: dict[From, list[BatchEffect]] = {}
        for change in self.good:
            found = _effects_of(change)
            if isinstance(found, Refusal):
                failures[change.index] = found
            else:
                of_ways.setdefault(change.way, []).extend(found)
        effects: dict[Target, Effects] = {}
        for target, ways in self.routes.targets.items():
            of_key = effects.setdefault(target, {})
            deletes = (_effect(row, None) for row in earlier.get(target, ()))
            for one in chain(*(of_ways.get(way, ()) for way in ways), deletes):
                of_key.setdefault(one.key, []).append(one)
        return effects, failures


def _effects_of(change: Changed) -> list[BatchEffect] | Refusal:
    """Return what a change does, or why it cannot be said."""
    try:
        return [_effect(row, change.index) for row in change.rows()]
    except Exception as error:  # noqa: BLE001 - one change must not end the run
        return apply_failed(error, "/after", "reading the row")


def _effect(row: dict[str, Any], index: int | None) -> BatchEffect:
    after = None if row["kind"] == DELETE else row["after"]
    return BatchEffect(row["key"], effect_of(row, {} if after is None else unpacked(after)), index)
