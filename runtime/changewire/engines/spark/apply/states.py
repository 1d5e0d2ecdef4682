"""What a process knows of the tables that it left behind, so that it need not look again.

Whoever uses it compares the versions that the tables have with those that they were left with: if
another writer came meanwhile, nothing that is known here holds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from threading import Lock
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.kept import TableHistory
from changewire.engines.spark.apply.recent import RecentRows
from changewire.engines.spark.apply.tables import SparkTables
from changewire.tables.metadata import COLUMN, VERSION
from changewire.tables.order import NO_SEQUENCE, Order, Sequence

_MOST: Final = 1_000
"""Tables that are known at most; the one that was used longest ago is forgotten first."""

MOST_ROWS: Final = 2**20
MOST_BYTES: Final = 2**28
"""Rows and bytes that are remembered of all tables at most: `TableState.recent`."""


@dataclass(frozen=True)
class TableState:
    """A table and its tombstones, as this process left them.

    Attributes:
        versions: `Delta.version` of each, as SQL names them.
        columns: The table's columns but `COLUMN`, as text: it was checked that it has them.
        truncated: Order of its newest truncate.
        mark: The greatest sequence that rows and tombstones have: what is beyond it is newer than
            all that is there. None if it is not known.
        is_alone: Whether no other writer was seen. Where one came another one may come again, so
            that it does not pay to look for the mark, which is lost then.
        history: Where the run that left it keeps the versions of its rows.
        recent: What was written to it last; None if that is not known.
    """

    versions: Mapping[str, Any]
    columns: str
    truncated: Order
    mark: Sequence | None
    is_alone: bool = True
    history: TableHistory | None = None
    recent: RecentRows | None = None


_Key = tuple[str, str]
"""Format of a table, and its tombstones as SQL names them."""

STATES: Final[OrderedDict[_Key, TableState]] = OrderedDict()
"""What is known, by format and tombstones; the table that was used last comes last."""

_lock: Final = Lock()


def known_state(key: _Key) -> TableState | None:
    """Return what is known of a table."""
    with _lock:
        if key in STATES:
            STATES.move_to_end(key)
        return STATES.get(key)


def keep_state(key: _Key, state: TableState) -> None:
    """Remember a table as it was left."""
    with _lock:
        STATES[key] = state
        STATES.move_to_end(key)
        while len(STATES) > _MOST:
            STATES.popitem(last=False)
        _forget_recent()


def _forget_recent() -> None:
    """Forget the rows of tables that were used longest ago, if more are remembered than may be."""
    rows = size = 0
    for key, state in reversed([*STATES.items()]):
        if state.recent is None:
            continue
        rows, size = rows + state.recent.rows, size + state.recent.bytes
        if rows > MOST_ROWS or size > MOST_BYTES:
            STATES[key] = replace(state, recent=None)


def forget_state(key: _Key) -> None:
    """Forget a table, of which something was seen or done that did not come to its end."""
    with _lock:
        STATES.pop(key, None)


@dataclass
class Mark:
    """The greatest sequence of a table: keys whose changes are beyond it need no look at the table.

    Attributes:
        spark: The session.
        tables: The table and its tombstones.
        known: The sequence; None if it is not known yet.
        is_wanted: Whether it may be looked for.
        recent: What was written to the table last; None if that is not known.
    """

    spark: SparkSession
    tables: SparkTables
    known: Sequence | None = None
    is_wanted: bool = True
    recent: RecentRows | None = None

    def get(self) -> Sequence | None:
        """Return the sequence, looked for if it is not known; None if all keys need a look."""
        if not self.is_wanted:
            return None
        if self.known is None:
            self.known = _greatest_sequence(self.spark, self.tables)
        return self.known

    def recent_rows(self) -> RecentRows | None:
        """Return what was written to the table last; None if all keys need a look."""
        known = self.get()
        if known is None:
            return None
        return RecentRows(known) if self.recent is None else self.recent


def _greatest_sequence(spark: SparkSession, tables: SparkTables) -> Sequence | None:
    """Return the greatest sequence of rows and tombstones; one job, which reads no other column.

    Returns:
        The sequence; empty if nothing there has one, None if something else wrote a row.
    """
    found = reduce(
        DataFrame.unionAll, (spark.table(table).select(COLUMN) for table in tables.both())
    )
    metadata = F.col(COLUMN)
    is_known = F.coalesce(metadata["version"] == VERSION, F.lit(False))  # noqa: FBT003
    (row,) = found.agg(
        F.max(metadata["sequence"]).alias("newest"), F.count_if(~is_known).alias("others")
    ).collect()
    if row["others"]:
        return None
    newest = row["newest"]
    return NO_SEQUENCE if newest is None else (newest["major"], newest["minor"])
