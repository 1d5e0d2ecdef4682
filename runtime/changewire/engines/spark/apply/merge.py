"""What a batch does to each of its tables, written by MERGE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from changewire.engines.errors import OutputError
from changewire.engines.retries import WriteConflictError, Written, retried, write_until_final
from changewire.engines.spark.apply.decisions import Decisions
from changewire.engines.spark.apply.local import LocalDecisions, LocalEffects
from changewire.engines.spark.apply.properties import keep_truncated, truncated
from changewire.engines.spark.apply.recent import RecentRows
from changewire.engines.spark.apply.reported import ReportedDecisions, ReportedEffects
from changewire.engines.spark.apply.states import (
    Mark,
    TableState,
    forget_state,
    keep_state,
    known_state,
)
from changewire.engines.spark.apply.table_effects import SparkEffects
from changewire.engines.spark.apply.tables import (
    SparkTables,
    make,
    versions,
)
from changewire.engines.spark.apply.writing import write_rows, write_tombstones
from changewire.engines.spark.raised import RAISED
from changewire.tables.metadata import COLUMN
from changewire.tables.order import NO_SEQUENCE, OLDEST, Order, Sequence

AnyDecisions: TypeAlias = Decisions | LocalDecisions | ReportedDecisions
"""What rows become, wherever that was decided."""


@dataclass(frozen=True)
class SparkDecisions:
    """What a table becomes.

    Attributes:
        made: What each row becomes.
        kept: Order of the newest truncate that the table had.
        since: `Delta.version` of each table before it was read.
        mark: Greatest sequence of the table before; None if it was not asked for.
        recent: What was written to the table before; None if that is not known.
    """

    made: AnyDecisions
    kept: Order
    since: Mapping[str, Any]
    mark: Sequence | None
    recent: RecentRows | None = None

    @property
    def counts(self) -> Counter[str]:
        """What became of the changes, as `changewire.tables.Result.counts` has it."""
        return self.made.counts


@dataclass(frozen=True)
class SparkMerge:
    """What a batch does to one table; see `changewire.tables.planner.TableMerge`.

    Attributes:
        effects: What its changes do to rows.
        tables: The table and its tombstones.
        truncate: Order of the newest truncate that the batch has for the table.
    """

    effects: SparkEffects | LocalEffects | ReportedEffects
    tables: SparkTables
    truncate: Order = OLDEST

    def decide(self) -> SparkDecisions:
        """Decide what each row of the table becomes; nothing is written.

        Raises:
            ConflictError: Other writers did not let it be done.
        """
        return retried(str(self.tables.table), self.decided)

    def failures(self, decisions: SparkDecisions) -> Any:
        """Return the changes of the batch that cannot be applied, as `without` takes them."""
        return decisions.made.failures()

    def without(self, failures: Any) -> SparkMerge:
        """Return what the batch does without some of its changes."""
        return replace(self, effects=self.effects.without(failures))

    def write(self, decisions: SparkDecisions) -> Counter[str]:
        """Write what was decided; a retry changes nothing.

        Tombstones are written first. Rows are written only if they are still those that were
        decided on.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: What another writer did makes changes fail that are in the change log by
                now.
        """
        first: SparkDecisions | None = decisions
        if self.truncate > OLDEST:
            spark = self.effects.spark
            keep_truncated(spark, self.tables.tombstones, self.truncate)
            first = None  # the tombstones have another version now

        def decide_again() -> SparkDecisions:
            found = self.decided()
            _check_failures(decisions, found, self.tables)
            return found

        return write_until_final(
            str(self.tables.table), first, decide=decide_again, write=self._written
        )

    def decided(self) -> SparkDecisions:
        """Decide on the table as it is now; it is made if it is not there.

        Raises:
            WriteConflictError: Another writer came first.
        """
        tables, spark = self.tables, self.effects.spark
        with conflicts(tables):
            state = self._state()
            floor, is_new = max(state.truncated, self.truncate), self.truncate > OLDEST
            is_wanted = not is_new and state.is_alone
            mark = Mark(spark, tables, state.mark, is_wanted, state.recent if is_wanted else None)
            made = self.effects.decisions(tables, floor, mark, is_new=is_new)
        return SparkDecisions(made, state.truncated, state.versions, mark.known, mark.recent)

    def _state(self) -> TableState:
        """Return what is known of the table as it is now; it is made if it is not there."""
        tables, spark = self.tables, self.effects.spark
        known = known_state(tables.id)
        if known is not None and (known.columns, known.history) == (tables.columns, tables.history):
            try:
                if known.versions == versions(spark, tables):
                    return known
            except RAISED:  # such as a table that was dropped
                forget_state(tables.id)
        is_made = make(spark, tables)
        since = versions(spark, tables)
        is_new = is_made and tables.are_untouched(since)
        kept = OLDEST if is_new else truncated(spark, tables.tombstones)
        mark = NO_SEQUENCE if is_new and known is None else None
        is_alone = known is None
        return TableState(since, tables.columns, kept, mark, is_alone, tables.history)

    def _written(self, decided: SparkDecisions) -> Written:
        """Write what was decided.

        Raises:
            WriteConflictError: Another writer came first.
        """
        made, tables, spark = decided.made, self.tables, self.effects.spark
        if made.is_blind and versions(spark, tables) != decided.since:
            raise WriteConflictError
        with conflicts(tables):
            is_whole, wrote = _write(made, tables, decided.since)
        if not any(wrote.values()) and is_whole:
            _keep(tables, decided, decided.since)
            return Written(is_whole=True, is_final=True)
        left = {
            table: tables.format.left(spark, table, version, wrote=wrote[table])
            for table, version in decided.since.items()
        }
        is_alone = all(one.is_alone for one in left.values())
        if made.perhaps and tables.table is not None and not left[tables.table].is_alone:
            is_whole = False  # a row that was there in place of one that was not
        if is_whole and is_alone:
            _keep(tables, decided, {table: one.version for table, one in left.items()})
        return Written(is_whole, is_final=is_whole and is_alone)


def _keep(tables: SparkTables, decided: SparkDecisions, versions: Mapping[str, Any]) -> None:
    """Remember a table as it was left."""
    made, before = decided.made, decided.mark
    mark = None if before is None else max(before, made.newest)
    recent = None
    if before is not None and mark is not None and not isinstance(made, Decisions):
        recent = (decided.recent or RecentRows(before)).with_batch(before, made.written(), mark)
    history = tables.history
    keep_state(
        tables.id,
        TableState(versions, tables.columns, decided.kept, mark, history=history, recent=recent),
    )


def _check_failures(first: SparkDecisions, again: SparkDecisions, tables: SparkTables) -> None:
    """Check that no more changes fail than before the change log was written."""
    if again.made.failed > first.made.failed:
        number = again.made.failed - first.made.failed
        raise OutputError(
            f"{tables.table}: another writer changed it, and {number} changes that could be "
            "applied before cannot be any more"
        )


@contextmanager
def conflicts(tables: SparkTables) -> Generator[None, None, None]:
    """Raise `WriteConflictError` for errors that say that another writer came first."""
    try:
        yield
    except RAISED as error:
        if tables.format.conflict.search(str(error)) is None:  # Iceberg's own are not wrapped
            raise
        raise WriteConflictError from error


def _write(
    made: AnyDecisions, tables: SparkTables, since: Mapping[str, Any]
) -> tuple[bool, dict[str, bool]]:
    """Write what was decided, tombstones first.

    Returns:
        Whether all of it was written, and whether each table was.
    """
    wrote = dict.fromkeys(tables.both(), False)
    if made.tombstones:
        write_tombstones(made.buried().withColumnRenamed("metadata", COLUMN), tables.tombstones)
        wrote[tables.tombstones] = True
    if tables.table is None or not made.changed + made.perhaps:
        return True, wrote
    number = write_rows(made.rows(), tables, since=since)
    wrote[tables.table] = number is None or number > 0
    return number is None or 0 <= number - made.changed <= made.perhaps, wrote
