"""The tables of versions that a stream keeps beside its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.changelog.logged import LOGGED, LoggedChange, truncates_of
from changewire.engines.options import StreamOptions
from changewire.engines.spark.apply.history.effects import LOG, effects_in, truncates_in
from changewire.engines.spark.apply.history.few import few_effects
from changewire.engines.spark.apply.history.keys import fitted
from changewire.engines.spark.apply.history.merge import HistoryMerge
from changewire.engines.spark.apply.history.tables import HistoryTables, history_tables
from changewire.engines.spark.apply.known import known_tables
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.small_batch import SmallBatch
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.stream.output import Output
from changewire.tables.mutations import DELETE, WRITES
from changewire.tables.names import Target, target_from
from changewire.tables.planner import Action, BatchPlan
from changewire.tables.routing import TRUNCATE, Namespace


class Log(NamedTuple):
    """Where the change log of a stream is.

    Attributes:
        changes: Its changes.
        controls: Its control events.
        sink: Their format.
    """

    changes: Output
    controls: Output
    sink: str


def log_of(options: StreamOptions) -> Log:
    """Return where the change log of a stream is."""
    places = options.outputs._asdict()
    changes, controls = (Output(name, places[name]) for name in ("changes", "controls"))
    return Log(changes, controls, options.sink)


def history_actions(
    landed: DecodedFrames, planned: BatchPlan[Any], options: ApplyOptions, log: Log
) -> list[Action]:
    """Return what writes the tables of versions of a batch, each by itself.

    Args:
        landed: What landed of the batch.
        planned: Where its changes go.
        options: How they are applied; `history` says where versions are kept.
        log: The change log, with the batch.
    """
    spark = landed.rows.sparkSession
    known = known_tables(spark, options.checkpoint)
    for added in planned.routes.added:
        known.add(*added)
    found: list[Action] = []
    batch = planned.batch
    for target, keys in planned.routes.targets.items():
        namespaces = [name for name, members in known.members.items() if target in members]
        shape = batch.tables[target].shape
        changes = batch.logged(keys) if isinstance(batch, SmallBatch) else None
        found.append(_TableHistory(landed, changes, target, namespaces, shape, options, log))
    return found


@dataclass(frozen=True)
class _TableHistory:
    """Writes the versions of one table.

    Attributes:
        landed: What landed of the batch.
        few: The changes and truncates of the table in a small batch; None in a large one.
        target: The table.
        namespaces: Where its changes come from: deletes of all tables in them are of it too.
        shape: How it has its rows; None while that is not known.
        options: How changes are applied.
        log: The change log, with the batch.
    """

    landed: DecodedFrames
    few: list[LoggedChange] | None
    target: Target
    namespaces: list[Namespace]
    shape: Shape | None
    options: ApplyOptions
    log: Log

    def __call__(self) -> Counter[str]:
        """Write them; a retry changes nothing.

        A table that is not there is made of the whole change log.

        Returns:
            How many versions began, ended, and so on, as `VersionWrite.effect`.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: A table has other columns, or was not made by this.
        """
        spark = self.landed.rows.sparkSession
        tables = self._tables(spark)
        if tables.is_complete(spark):
            return self._merge(spark, tables).write()
        changes, controls = (one.read(spark, self.log.sink, LOG) for one in self.log[:2])
        merge = self._merge_of(changes, controls, tables)
        counts = replace(merge, is_complete=False).write()
        if self.shape is not None:
            tables.complete(spark)
        return counts

    def _merge(self, spark: SparkSession, tables: HistoryTables) -> HistoryMerge:
        """Return what the batch does to the versions of the table."""
        if self.few is None:
            return self._merge_of(self.landed.changes, self.landed.controls, tables)
        changes = [one for one in self.few if one.change.op != TRUNCATE]
        truncates = [*truncates_of(self.few)]
        return HistoryMerge(spark, few_effects(changes, tables.shape), truncates, tables)

    def _merge_of(
        self, changes: DataFrame, controls: DataFrame, tables: HistoryTables
    ) -> HistoryMerge:
        """Return what changes and control events of any tables do to the versions of this one."""
        effects = fitted(effects_in(self._own(changes)), tables.shape)
        are_applied = self.options.apply_as_truncates
        truncates = truncates_in(self._own(controls)) if are_applied else []
        effects = effects.localCheckpoint(eager=False)
        return HistoryMerge(changes.sparkSession, effects, truncates, tables)

    def _tables(self, spark: SparkSession) -> HistoryTables:
        options = self.options
        assert options.history is not None  # noqa: S101 - for type checkers
        name = target_from(options.history, self.target.origin).name
        return history_tables(spark, name, self.shape, options.tables, options.history_names)

    def _own(self, rows: DataFrame) -> DataFrame:
        """Return the changes of the table."""
        source = F.col("source")
        values = dict(zip(self.options.routing.template.fields, self.target.origin, strict=True))
        is_own = F.lit(True)  # noqa: FBT003 - a column of this value
        for name, value in values.items():
            part = source[name]
            if name == "table" and self.options.routing.null_set is not None:
                null_set = F.lit(self.options.routing.null_set)
                part = F.when(F.col("op").isin(*WRITES), F.coalesce(part, null_set)).otherwise(part)
            is_own = is_own & part.eqNullSafe(F.lit(value))
        is_for_all = (F.col("op") == DELETE) & source["table"].isNull()
        is_ours = is_own & ~(is_for_all & source["database"].isNotNull())
        return rows.where(is_ours | (is_for_all & _is_from(self.namespaces))).select(*LOGGED.names)


def _is_from(namespaces: Iterable[Namespace]) -> Column:
    """Return the condition that a change is of one of some databases."""
    found = F.lit(False)  # noqa: FBT003 - a column of this value
    for system, database in namespaces:
        source = F.col("source")
        found = found | (
            (source["system"] == system) & source["database"].eqNullSafe(F.lit(database))
        )
    return found
