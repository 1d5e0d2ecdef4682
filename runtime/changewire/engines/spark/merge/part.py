"""The tables of a query, the part of a batch that goes to one of them, and what that did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
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
from changewire.engines.settings import Settings
from changewire.engines.spark.merge.carried import CarriedColumns
from changewire.engines.spark.merge.clauses import layout_of
from changewire.engines.spark.merge.mutations import FAILURE, ROUNDED
from changewire.engines.spark.merge.options import ApplyOptions
from changewire.engines.spark.merge.plan import There
from changewire.engines.spark.merge.shapes import Shape
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.merge.violations import check_flags
from changewire.engines.spark.parts import names_in
from changewire.tables.names import Target, target_from, template_of
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import RouteKey


@dataclass
class QueryTables:
    """The tables of a query.

    Attributes:
        query: Id of the query.
        options: How changes are applied.
        there: The tables that were looked at.
        sessions: Sessions that merge tables at once.
        columns: The columns of messages.
    """

    query: str
    options: ApplyOptions
    there: dict[Target, There | None] = field(default_factory=dict)
    sessions: list[SparkSession] = field(default_factory=list)
    columns: CarriedColumns = field(default_factory=CarriedColumns)

    def of(self, spark: SparkSession, target: Target, settings: Settings) -> There | None:
        """Return a table; None if it does not exist."""
        if target not in self.there:
            table = SparkTable(target.name, self.options.format)
            found = table.there(spark, self.query)
            if found is not None and settings.layout is not None:
                found = replace(found, layout=layout_of(spark, table))
            if found is not None and settings.keeps_deleted:
                check_flags(spark, found, target.name)
            self.there[target] = found
        return self.there[target]


@dataclass(frozen=True)
class TablePart:
    """The part of a batch that goes to one table.

    Attributes:
        table: The table.
        target: How it was named.
        shape: How it has its rows.
        keys: Where its changes come from.
        deleted: Greatest first number of the sequence of a delete before the batch, if any.
        truncate: Order of the newest truncate in the batch.
        floor: Order of the newest truncate of all.
        is_new: Whether the table did not exist before.
        keeps_deleted: Whether deleted rows stay in it.
    """

    table: SparkTable
    target: Target
    shape: Shape
    keys: list[RouteKey]
    deleted: int | None
    truncate: Order
    floor: Order
    is_new: bool
    keeps_deleted: bool

    @property
    def is_truncated(self) -> bool:
        """Whether the batch removes rows of the table by a truncate."""
        return self.truncate > OLDEST and not self.is_new


def view_of(view: str, target: Target) -> str:
    """Return the name of the view of a table."""
    return target_from(template_of(view), target.origin).name


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

    def add(self, other: Tally) -> None:
        """Add the counts of other tables."""
        self.counts += other.counts
        self.add_changes(other.changes)
        self.merged |= other.merged

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
        values = F.sum(F.size(names_in(RESCUED)))
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
    names = found.select(F.explode(names_in(RESCUED)).alias("name"))
    grouped = names.groupBy("name").agg(F.count("*").alias("rows"))
    most = grouped.orderBy(F.desc("rows"), "name").limit(MOST_NAMES).collect()
    counts = {row["name"]: row["rows"] for row in most}
    others = values - sum(counts.values())
    return {**counts, OTHER_COLUMNS: others} if others else counts
