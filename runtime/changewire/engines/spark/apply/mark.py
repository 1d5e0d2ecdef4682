"""The high-water mark of a table: keys whose changes are beyond it need no look at the table."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession

from changewire.engines.spark.apply.tables import SparkTables, greatest_sequence
from changewire.tables.order import Order, Sequence


@dataclass
class Mark:
    """The greatest sequence of a table: what is beyond it is newer than all that is there.

    Attributes:
        spark: The session.
        tables: The table and its tombstones.
        floor: Order of the newest truncate of the table.
        known: The sequence; None if it is not known yet.
        is_wanted: Whether it may be looked for.
    """

    spark: SparkSession
    tables: SparkTables
    floor: Order
    known: Sequence | None = None
    is_wanted: bool = True

    def get(self) -> Sequence | None:
        """Return the sequence, looked for if it is not known; None if all keys need a look."""
        # Without the number of rows that a MERGE changed nothing shows that it met no newer row.
        if not self.is_wanted or not self.tables.format.counts_rows:
            return None
        if self.known is None:
            found = greatest_sequence(self.spark, self.tables)
            self.known = None if found is None else max(found, self.floor.sequence)
        return self.known
