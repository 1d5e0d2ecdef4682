"""Mutations merged into one table, without those that its constraints forbid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.by_table import MergedRows
from changewire.engines.changelog.shapes import RESCUED, Shape
from changewire.engines.known import KnownLog
from changewire.engines.merge.becomes import Becomes, Floors, keys_in
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.look import logged_deletes
from changewire.engines.merge.mutations import NUMBER, fitted, without
from changewire.engines.merge.sieve import Sieve
from changewire.engines.merge.table import ConstraintError, LocalTable, made
from changewire.engines.settings import Settings
from changewire.tables.mutations import DELETE
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal, constraint_refusal
from changewire.tables.row_state import rescued_values


class MergedTable(NamedTuple):
    """What was done to a table, and which changes it cannot take, by their numbers."""

    counts: Counter[str]
    failures: dict[int, Refusal]
    merged: MergedRows = MergedRows({})


@dataclass(frozen=True)
class TableMerge:
    """Merges mutations into one table; after a conflict with another writer it is called again.

    `batch` has the rows of the log that they are of, by their numbers.
    """

    log: LocalLog
    known: KnownLog
    target: Target
    shape: Shape
    settings: Settings
    floors: Floors
    batch: pa.Table

    def __call__(self, mutations: pa.Table) -> MergedTable:
        """Merge mutations."""
        counts, source = Counter[str](), self.known.tables.sources.get(self.target)
        table = made(self.target.name, self.shape, self.log.id, source, self.settings)
        if self.floors.truncate > OLDEST:
            counts["truncated"] += table.truncate(self.floors.truncated)
        found, failures, rounded = fitted(mutations, self.shape)
        counts["sequence_inherited"] += found["major"].null_count
        counts["rounded_numbers"] += rounded
        texts = found[RESCUED].drop_null().to_pylist()
        rescued = Counter(chain.from_iterable(map(rescued_values, texts)))
        counts["rescued_values"] += rescued.total()
        becomes = Becomes(self.shape, self.floors, self.known.has_patches(self.target))
        while True:
            self.log.add_refused(self.batch, failures)
            deletes = self._deletes(found)
            rows, failed, unchanged = becomes(found, table, deletes)
            failures |= failed
            try:
                done = self._merged(table, rows)
            except ConstraintError as error:
                broken = self._broken(found, rows, table, deletes)
                if not broken:
                    raise error.cause from None
            else:
                asked, is_truncated = len(rows) + unchanged, self.floors.truncate > OLDEST
                merged = MergedRows(done, asked, is_truncated, rescued)
                return MergedTable(counts + done, failures, merged)
            numbers = found[NUMBER].to_pylist()
            refused = {numbers[i]: constraint_refusal(name) for i, name in broken.items()}
            found = without(found, broken, refused)
            failures |= {number: why for number, why in refused.items() if number is not None}

    def _merged(self, table: LocalTable, rows: pa.Table) -> Counter[str]:
        if not len(rows):
            return Counter()
        return table.merge(rows, self.shape, keeps_deleted=self.settings.keeps_deleted)

    def _broken(
        self, found: pa.Table, rows: pa.Table, table: LocalTable, deletes: Mapping[str, Order]
    ) -> dict[int, str]:
        """Return which constraints mutations break, by their numbers among those of the table."""
        keys = table.suspects(rows, self.shape, keeps_deleted=self.settings.keeps_deleted)
        indexed = found.append_column("index", pa.array(range(len(found)), pa.int64()))
        those = indexed.filter(pc.is_in(found["key"], pa.array(sorted(keys), pa.string())))
        batch: dict[str, list[dict[str, Any]]] = {}
        for one in those.to_pylist(maps_as_pydicts="strict"):
            batch.setdefault(one["key"], []).append(one)
        held = {self.shape.key_of(row): row for row in table.rows(keys_in(those, self.shape))}
        sieve = Sieve(
            self.shape,
            held,
            self.floors.truncated,
            deletes,
            self.settings.keeps_deleted,
            table.violated,
        )
        return sieve.refused(batch)

    def _deletes(self, found: pa.Table) -> dict[str, Order]:
        """Return the deletes in the log of keys that have a change which may be older."""
        deleted = self.floors.deleted
        if deleted is None or not len(found):
            return {}
        writes = found.filter(pc.not_equal(found["kind"], DELETE))
        is_late = pc.fill_null(pc.less_equal(writes["major"], deleted), True)  # noqa: FBT003
        wanted = {*writes.filter(is_late)["key"].to_pylist()}
        least = None if found["major"].null_count else pc.min(writes["major"]).as_py()
        if not wanted or (least is not None and least > deleted):
            return {}
        return logged_deletes(self.log, self.known, self.target, self.shape, wanted, least)
