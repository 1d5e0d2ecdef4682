"""The tables of versions that a stream keeps beside its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.changelog.logged import LOGGED
from changewire.engines.options import StreamOptions
from changewire.engines.spark.apply.history.effects import LOG, effects_in, truncates_in
from changewire.engines.spark.apply.history.keys import fitted
from changewire.engines.spark.apply.history.merge import HistoryMerge
from changewire.engines.spark.apply.history.tables import HistoryTables, history_tables
from changewire.engines.spark.apply.known import known_tables
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.stream.output import Output
from changewire.tables.mutations import DELETE, WRITES
from changewire.tables.names import Target, target_from
from changewire.tables.planner import Action, BatchPlan
from changewire.tables.routing import Namespace


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
    for target in planned.routes.targets:
        namespaces = [name for name, members in known.members.items() if target in members]
        shape = planned.batch.tables[target].shape
        found.append(_TableHistory(landed, target, namespaces, shape, options, log))
    return found


@dataclass(frozen=True)
class _TableHistory:
    """Writes the versions of one table.

    Attributes:
        landed: What landed of the batch.
        target: The table.
        namespaces: Where its changes come from: deletes of all tables in them are of it too.
        shape: How it has its rows; None while that is not known.
        options: How changes are applied.
        log: The change log, with the batch.
    """

    landed: DecodedFrames
    target: Target
    namespaces: list[Namespace]
    shape: Shape | None
    options: ApplyOptions
    log: Log

    def __call__(self) -> Counter[str]:
        """Write them; a retry changes nothing.

        A table that is not there is made of the whole change log.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: A table has other columns, or was not made by this.
        """
        spark, options = self.landed.rows.sparkSession, self.options
        tables = self._tables(spark)
        tables.make(spark)
        is_complete = tables.is_complete(spark)
        changes, controls = self.landed.changes, self.landed.controls
        if not is_complete:
            changes, controls = (one.read(spark, self.log.sink, LOG) for one in self.log[:2])
        effects = fitted(effects_in(self._own(changes)), tables.shape)
        truncates = truncates_in(self._own(controls)) if options.apply_as_truncates else []
        HistoryMerge(effects.localCheckpoint(eager=False), truncates, tables).write()
        if not is_complete and self.shape is not None:
            tables.complete(spark)
        return Counter()

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
