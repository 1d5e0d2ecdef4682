"""The tables of a query, and the part of a batch that goes to one of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from changewire.engines.settings import Settings
from changewire.engines.spark.merge.carried import CarriedColumns
from changewire.engines.spark.merge.clauses import layout_of
from changewire.engines.spark.merge.options import ApplyOptions
from changewire.engines.spark.merge.plan import There
from changewire.engines.spark.merge.shapes import Shape
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.merge.violations import check_flags
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
