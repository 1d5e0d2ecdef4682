"""One batch, merged into the tables that it feeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

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
from changewire.engines.delta.merge import merge
from changewire.engines.effects import effect_of
from changewire.engines.json_rows import unpacked
from changewire.engines.keys_missing import check_keys
from changewire.tables.effects import Effect
from changewire.tables.routing import Routing, goes_to_all
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
        if counts["lone_before_unused"]:
            good, met = with_wholes(good, rows)
            counts["lone_before_unused"] -= met
        return Batch(as_dead_letters(rows, why, self.format), changes, good, found, counts)

    def apply(self, batch: Batch) -> None:
        """Merge a batch into its tables; done again it changes nothing.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: A table has other columns, or is not for delta-rs to write.
        """
        keep_deletes(self.checkpoint, batch.deletes())
        self.counts += batch.counts
        for target, ways in batch.routes.targets.items():
            namespaces = [space for added, space in batch.routes.added if added == target]
            effects = batch.effects(ways, kept_deletes(self.checkpoint, namespaces))
            self.counts += merge(effects, target.name, newest_truncate(batch.changes, ways))
        keep_tables(self.checkpoint, batch.routes.added)


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

    def deletes(self) -> Iterator[dict[str, Any]]:
        """Yield what deletes do that go to all tables of their database."""
        for change in self.good:
            source, way = change.way
            if goes_to_all(way, source):
                for row in change.rows():
                    yield {**row, "source": msgspec.structs.asdict(source)}

    def effects(
        self, ways: Collection[From], earlier: Iterator[dict[str, Any]]
    ) -> dict[str, list[Effect]]:
        """Return what the changes from some sources do, by key of the row.

        Args:
            ways: The sources.
            earlier: Deletes that came before the table was known.
        """
        found: dict[str, list[Effect]] = {}
        for change in self.good:
            for row in change.rows() if change.way in ways else ():
                found.setdefault(row["key"], []).append(effect_of(row, unpacked))
        for row in earlier:
            found.setdefault(row["key"], []).append(effect_of(row, unpacked))
        return found
