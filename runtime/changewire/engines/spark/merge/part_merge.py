"""One batch, merged into one of its tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.known import KnownLog
from changewire.engines.spark.cause import full_text
from changewire.engines.spark.frames import checkpointed, persisted
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.merge.becomes import becomes, rows_with_key
from changewire.engines.spark.merge.facts import BatchFacts, RowText
from changewire.engines.spark.merge.from_log import feeds
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.late import Held, logged_deletes
from changewire.engines.spark.merge.mutations import FAILURE, PLACE, mutations_of
from changewire.engines.spark.merge.part import QueryTables, TablePart, Tally
from changewire.engines.spark.merge.plan import There, is_from, is_of
from changewire.engines.spark.merge.tuning import limit_partitions
from changewire.engines.spark.merge.violations import spoiling, violations
from changewire.engines.spark.session import accumulator, is_remote
from changewire.tables.mutations import DELETE, FULL

_VIOLATED: Final = re.compile(
    "DELTA_VIOLATE_CONSTRAINT|DELTA_NOT_NULL_CONSTRAINT|DELTA_EXCEED_CHAR_VARCHAR"
    "|NOT_NULL_ASSERT_VIOLATION"
)
"""What the text of an error has if a row violates a constraint."""

_ROUNDS: Final = 8
"""How often changes of hard keys are decided on, each time without the first that a table refuses;
at the last time all that follow it are refused."""


class _How(NamedTuple):
    """How mutations of a table become rows; see `becomes`."""

    there: There
    held: Held
    has_moved: bool
    has_hard: bool
    text: RowText


@dataclass
class Batch:
    """A batch, of which a part goes to each of its tables.

    Attributes:
        query: The tables of its query.
        known: The content of the log before it.
        rows: Its rows.
        facts: What is known of them.
        log: The log, which has these rows too.
        partitions: How many partitions shuffles may have.
        befores: Which keys updates left whose images came as two messages, if any did.
    """

    query: QueryTables
    known: KnownLog
    rows: DataFrame
    facts: BatchFacts
    log: DataFrame
    partitions: int
    befores: DataFrame | None = None

    @property
    def spark(self) -> SparkSession:
        """The session that its tables are merged in."""
        return self.rows.sparkSession


@dataclass
class PartMerge:
    """Merges the part of a batch that goes to one table.

    Attributes:
        batch: The batch.
        part: The part.
        tally: What was done, in numbers.
        refused: Positions of changes that the table does not take, and `FAILURE`.
    """

    batch: Batch
    part: TablePart
    tally: Tally = field(default_factory=Tally)
    refused: list[DataFrame] = field(default_factory=list)

    def __call__(self, there: There) -> PartMerge:
        """Merge it into the table as it was looked at last."""
        spark, part = self.batch.spark, self.part
        part.table.format.refresh(spark, part.target.name)
        counts = self.batch.facts.changes  # without tables that have a truncate alone
        changes = sum(counts[key].changes for key in part.keys if key in counts)
        limit_partitions(spark, changes, part.table, self.batch.partitions)
        if part.is_truncated:
            self.tally.counts["truncated"] += part.table.truncate(spark, part.floor) or 0
        try:
            self._merge(there)
        except RAISED as error:
            self._merge(self._constrained(there, error))
        return self

    def _constrained(self, there: There, error: Exception) -> There:
        """Return a table that has got a constraint since it was looked at, which a row violates.

        Any other error is raised again.
        """
        table, is_violated = self.part.table, _VIOLATED.search(full_text(error))
        again = table.read(self.batch.spark) if is_violated else None
        if again is None or again.constraints == there.constraints:
            raise error
        self.batch.query.there[self.part.target] = again
        return again

    def _merge(self, there: There) -> None:
        batch, part, spark = self.batch, self.part, self.batch.spark
        moved, has_moves = self._moved(), bool(batch.facts.moves)
        misfits = None if is_remote(spark) else accumulator(spark, 0)
        mine = batch.rows.where(is_from(part.keys))
        found = mutations_of(mine, part.shape, moved, has_moves=has_moves, misfits=misfits)
        held = self._held()
        needs_fit = part.shape.is_typed
        has_patches = held.has_patches and not part.is_new
        has_hard = bool(batch.facts.hard) or part.is_truncated or has_patches
        how = _How(there, held, moved is not None, has_hard, batch.facts.text_of(part.keys))
        asks = there.constraints.are_any
        if has_hard or asks or (needs_fit and (has_moves or moved is not None)):
            with _keeping(how)(found) as kept:
                fitting = self._fitting(kept, how) if needs_fit else kept
                self._write(self._allowed(fitting, how) if asks else fitting, how)
            return
        # Each change is on one row, so what does not fit is left out, and looked for afterwards.
        fitting = found.where(F.col(FAILURE).isNull()) if needs_fit else found
        self._write(fitting, how)
        if needs_fit and (misfits is None or misfits.value):
            with persisted(found) as kept:
                self._fitting(kept, how)

    def _moved(self) -> DataFrame | None:
        """Return which keys of the table were left by updates that came as two messages."""
        batch, part = self.batch, self.part
        has_befores = any(batch.facts.facts[key].has_befores for key in part.keys)
        if batch.befores is None:
            return None
        if not has_befores and not batch.known.has_befores_of(part.target):
            return None
        return batch.befores.where(is_of(part.keys))

    def _held(self) -> Held:
        """Return what is known of the table that the batch may need."""
        batch, part = self.batch, self.part
        rows = batch.spark.table(part.table.identifier)
        has_patches, floor = batch.known.has_patches(part.target), part.floor
        least, deleted = batch.facts.least_of(part.keys), part.deleted
        bounds = None
        if deleted is not None and not batch.facts.inherited:
            if least is None or least > deleted:
                deleted = None
            else:
                bounds = least, deleted
        if deleted is None:
            return Held(rows, floor=floor, has_patches=has_patches)
        is_of_table = feeds(batch.query.options.routing, part.target, batch.known)
        deletes = logged_deletes(
            batch.log,
            is_of_table,
            part.shape,
            bounds,
            with_befores=batch.known.has_befores_of(part.target),
        )
        return Held(rows, deletes, deleted, floor, has_patches)

    def _write(self, found: DataFrame, how: _How, round: int = 1) -> None:
        """Merge what rows become; what hard keys cannot become is refused."""
        part, spoilt, asks = self.part, None, how.there.constraints.are_any
        rows = becomes(
            found, part.shape, how.held, has_hard=how.has_hard, text=how.text, with_steps=asks
        )
        if rows.hard is None:
            self._merged(rows.easy, how.there)
            return
        with _keeping(how)(rows.hard) as kept:
            failed = kept.where(F.col(FAILURE).isNotNull()).select(*PLACE, FAILURE)
            ((number, failures, states),) = kept.agg(*map(F.count, ("*", FAILURE, STATE))).collect()
            if failures:
                self.refused.append(failed.localCheckpoint())
            good = kept.where(F.col(STATE).isNotNull())
            if asks:
                steps = good.where(F.col(PLACE[0]).isNotNull())
                if not part.keeps_deleted:
                    steps = steps.where(~F.col(STATE)["deleted"])
                wrong = violations(steps, part.shape, how.there, how.held.table, are_whole=False)
                spoilt = self._refused(spoiling(steps, wrong, are_all=round == _ROUNDS))
                good = good.where(F.col(PLACE[0]).isNull())
            if spoilt is None:
                good = good.withColumn("decided", F.lit(True))  # noqa: FBT003 - a column of this value
                every = rows.easy.unionByName(good.select(*rows.easy.columns))
                self._merged(every, how.there, unchanged=number - failures - states)
                return
        with checkpointed(_without(found, spoilt, how)) as left:
            self._write(left, how, round + 1)

    def _merged(self, rows: DataFrame, there: There, *, unchanged: int = 0) -> None:
        part = self.part
        done = part.table.merge(rows, part.shape, there, keeps_deleted=part.keeps_deleted)
        if done.asked is not None:
            done = done._replace(asked=done.asked + unchanged)
        self.tally.add_merged(part, done)

    def _fitting(self, found: DataFrame, how: _How) -> DataFrame:
        """Return the mutations whose changes fit the table; the others are refused."""
        if not self.tally.add_fitted(self.part, found):
            return found
        return _without(found, self._refused(found.where(F.col(FAILURE).isNotNull())), how)

    def _allowed(self, found: DataFrame, how: _How) -> DataFrame:
        """Return the mutations without those of whole rows that the table does not allow.

        They are refused before the newest of each key is chosen: so the table has the newest that
        it can take, in whatever batches they come.
        """
        part, kinds = self.part, (FULL, DELETE) if self.part.keeps_deleted else (FULL,)
        rows = found.where(F.col("kind").isin(*kinds))
        rows = rows if part.shape.is_typed else rows_with_key(rows, how.text)
        wrong = violations(rows, part.shape, how.there, how.held.table, are_whole=True)
        return _without(found, self._refused(wrong), how)

    def _refused(self, failed: DataFrame) -> DataFrame | None:
        """Refuse changes, by their positions and `FAILURE`; return the positions, if any."""
        places = failed.groupBy(*PLACE).agg(F.min(FAILURE).alias(FAILURE)).localCheckpoint()
        if places.isEmpty():
            return None
        self.refused.append(places)
        return places


def _keeping(how: _How) -> Callable[[DataFrame], AbstractContextManager[DataFrame]]:
    """Return what keeps rows: with constraints, plans join them with themselves again and again."""
    return checkpointed if how.there.constraints.are_any else persisted


def _without(found: DataFrame, places: DataFrame | None, how: _How) -> DataFrame:
    """Return mutations without those at some positions.

    A row whose new place is refused stays where it was, also if its images came as two messages.
    """
    if places is None:
        return found
    refused = F.broadcast(places.select(*PLACE))
    left = found.join(refused, [*PLACE], "left_anti")
    if not how.has_moved:
        return left
    writes = found.where(F.col("kind") != DELETE).join(refused, [*PLACE], "left_semi")
    stay = writes.select(
        "major", F.lit(0).cast("bigint").alias("minor"), F.lit(DELETE).alias("kind")
    )
    return left.join(stay, ["major", "minor", "kind"], "left_anti")
