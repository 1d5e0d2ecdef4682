"""The rows of a log that feed one table: its changes, their effects, and the rows they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.known import KnownLog
from changewire.engines.layout import EFFECT
from changewire.engines.log import ATTEMPT, READ, REFUSED
from changewire.engines.spark.log.rows import newest, open_refusals, without
from changewire.engines.spark.merge.becomes import becomes
from changewire.engines.spark.merge.befores import moved_in
from changewire.engines.spark.merge.from_log import feeds, is_change, is_incomplete, with_effects
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.late import Held
from changewire.engines.spark.merge.mutations import CONTENT, FAILURE, NAMED, mutations_of
from changewire.engines.spark.merge.shapes import Shape
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Routing


class Needs(NamedTuple):
    """Steps that the rows of a log need before the newest change of each key is found.

    Attributes:
        refusals: Whether targets refused changes.
        replays: Whether elements were decoded again.
        effects: Whether changes were landed before logs had all that is read of them.
        images: Whether before images came as messages of their own.
        patches: Whether changes do not say the whole row.
        sequences: Whether changes have no sequence.
    """

    refusals: bool
    replays: bool
    effects: bool
    images: bool
    patches: bool
    sequences: bool


ANY: Final = Needs(*[True] * len(Needs._fields))
"""All of them, for rows that are read when the log may have more."""


@dataclass(frozen=True)
class TableLog:
    """The rows of a log that feed one table.

    Attributes:
        mine: These rows.
        log: All rows of the log: a replay may have given a change another table.
        needs: Their needs.
        floor: Order of the newest truncate.
    """

    mine: DataFrame
    log: DataFrame
    needs: Needs = ANY
    floor: Order = OLDEST

    def changes(self) -> DataFrame:
        """Return the changes of the table, each as the newest replay decoded it."""
        found = self.mine.where(is_change())
        return newest(found, self.log) if self.needs.replays else found

    def accepted(self) -> DataFrame:
        """Return the `changes` that the table did not refuse."""
        found = self.changes()
        return without(found, open_refusals(self.mine)) if self.needs.refusals else found

    def with_effects(self, changes: DataFrame) -> DataFrame:
        """Return changes with their effects, which some logs lack."""
        return with_effects(changes) if self.needs.effects else changes

    def effects(self, shape: Shape, *, are_read_again: bool = False) -> DataFrame:
        """Return what the changes that the table did not refuse do, as `mutations_of`.

        Args:
            shape: How the table has its rows.
            are_read_again: Whether the caller reads the effects more than once.
        """
        changes = self.with_effects(self.accepted().select(*READ))
        moved = moved_in(changes.where(F.col("op") == "update")) if self.needs.images else None
        found = mutations_of(changes, shape, moved)
        return found.localCheckpoint(eager=False) if self._is_hard or are_read_again else found

    def rows(self, effects: DataFrame, shape: Shape) -> DataFrame:
        """Return `NAMED`, `CONTENT` and `STATE` of the table's rows, of deleted rows as well.

        Of `effects` some may not fit.
        """
        found = effects.where(F.col(FAILURE).isNull())
        rows = becomes(found, shape, Held(floor=self.floor), has_hard=self._is_hard)
        easy = rows.easy.select(NAMED, CONTENT, STATE)
        if rows.hard is None:
            return easy
        decided = rows.hard.where(F.col(STATE).isNotNull())
        return easy.unionByName(decided.select(*easy.columns))

    @property
    def _is_hard(self) -> bool:
        return self.needs.patches or self.needs.sequences


def needs_of(log: DataFrame) -> Needs:
    """Return what the rows of a log need, by one job."""
    effect, is_old = F.col(EFFECT), is_incomplete()
    conditions = (
        F.col("kind") == REFUSED,
        F.col(ATTEMPT) > 0,
        is_old,
        is_old | (effect == "before"),
        is_old | effect.isin("keys", "patch"),
        is_change() & F.col("sequence").isNull(),
    )
    (found,) = log.agg(*map(F.count_if, conditions)).collect()
    return Needs(*map(bool, found))


def table_log(
    log: DataFrame, needs: Needs, known: KnownLog, routing: Routing, target: Target
) -> TableLog:
    """Return the rows of a log that feed a table, as far as the content of the log says."""
    if not needs.effects:
        images, patches = known.has_befores_of(target), known.has_patches(target)
        needs = needs._replace(images=images, patches=patches)
    mine = log.where(feeds(routing, target, known))
    return TableLog(mine, log, needs, known.truncated(target))
