"""What a batch did to its tables, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.by_table import (
    MOST_NAMES,
    OTHER_COLUMNS,
    ChangesByTable,
    MergedRows,
    TableChanges,
    changes_by_table,
)
from changewire.engines.changelog.shapes import RESCUED
from changewire.engines.spark.merge.mutations import FAILURE, ROUNDED
from changewire.engines.spark.merge.part import TablePart
from changewire.tables.names import Target
from changewire.tables.order import OLDEST
from changewire.tables.routing import RouteKey


@dataclass
class Tally:
    """Counts of a batch.

    Attributes:
        counts: What was done in all tables.
        changes: What is known of changes, by where they come from.
        merged: What was merged into each table, and where it came from.
    """

    counts: Counter[str] = field(default_factory=Counter)
    changes: dict[RouteKey, TableChanges] = field(default_factory=dict)
    merged: dict[Target, tuple[list[RouteKey], MergedRows]] = field(default_factory=dict)

    def add_changes(self, found: Mapping[RouteKey, TableChanges]) -> None:
        """Add what is known of changes."""
        for key, one in found.items():
            self.changes[key] = self.changes.get(key, TableChanges()).plus(one)

    def add_merged(self, part: TablePart, done: MergedRows) -> None:
        """Add what a MERGE did to the rows of a table, by its own numbers."""
        self.counts += Counter(done.rows or {})
        rescued = self._merged(part).rescued
        is_truncated = part.truncate > OLDEST
        self.merged[part.target] = (
            part.keys,
            done._replace(is_truncated=is_truncated, rescued=rescued),
        )

    def add_fitted(self, part: TablePart, found: DataFrame) -> int:
        """Add what was rounded and rescued; return how many mutations do not fit the table."""
        values = F.sum(F.size(F.json_object_keys(RESCUED)))
        sums = F.count(FAILURE), F.sum(ROUNDED), values
        ((failures, rounded, rescued),) = found.agg(*sums).collect()
        self.counts += Counter(rounded_numbers=rounded or 0, rescued_values=rescued or 0)
        if rescued:
            one = self._merged(part)._replace(rescued=_rescued(found, rescued))
            self.merged[part.target] = part.keys, one
        return int(failures)

    def by_table(self, name_of: Callable[[Target, list[RouteKey]], str]) -> ChangesByTable:
        """Return what became of the changes of each table."""
        return changes_by_table(self.changes, self.merged, name_of)

    def _merged(self, part: TablePart) -> MergedRows:
        return self.merged.get(part.target, (part.keys, MergedRows({})))[1]


def _rescued(found: DataFrame, values: int) -> dict[str, int]:
    """Return how many values were rescued by column, for the most frequent ones."""
    names = found.select(F.explode(F.json_object_keys(RESCUED)).alias("name"))
    grouped = names.groupBy("name").agg(F.count("*").alias("rows"))
    most = grouped.orderBy(F.desc("rows"), "name").limit(MOST_NAMES).collect()
    counts = {row["name"]: row["rows"] for row in most}
    others = values - sum(counts.values())
    return {**counts, OTHER_COLUMNS: others} if others else counts
