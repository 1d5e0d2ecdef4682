"""The jobs that are timed: each starts its query from a topic to Delta tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import (
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

import changewire.spark as cws
from benchmarks.by_hand import safe
from benchmarks.by_hand import streams as by_hand
from benchmarks.by_hand import tables as tables_by_hand
from benchmarks.streams.history import TABLE, table_names
from changewire.engines.spark.log.land import land
from changewire.engines.spark.merge.query import apply_changes

FORMAT: Final = "dataworks-json"

ROW: Final = StructType(
    [
        StructField("id", LongType()),
        StructField("name", StringType()),
        StructField("balance", DoubleType()),
        StructField("created_at", TimestampType()),
    ]
)
"""Columns of the merged table."""

ONCE: Final = {"availableNow": True}

LOG, LOG_BY_HAND = "changewire", "by hand"
TYPED, JSON = "changewire, typed columns", "changewire, JSON text"
MERGE_BY_HAND, BOTH_BY_HAND = "by hand, table alone", "by hand, change log and table"
TABLES, TABLES_BY_HAND = "changewire, any tables", "by hand, change log and any tables"
SAFE_BY_HAND = "by hand, change log and table, deleted rows kept"
ONE_LOG = "changewire, one log"
REMOVED, FLAGGED = (
    f"changewire, one log and one MERGE, deleted rows {n}" for n in ("removed", "flagged")
)


class Job(msgspec.Struct, frozen=True):
    """A job, as its process is told of it.

    Attributes:
        name: One of `JOBS`.
        server: Bootstrap server of the broker.
        topic: The topic.
        warm_up: A small topic that is read first, untimed, into tables of its own.
        folder: Gets tables and checkpoint.
        batch: Messages of a batch, at most.
        seed: Rows that the table has before.
        layout: How these lie, one of `seeds.LAYOUTS`.
        tables: Number of tables; of `TABLES` and `TABLES_BY_HAND`, as is the next one.
        format: Table format: ``delta`` or ``iceberg``.
        is_warm: Whether the small topic is read first.
        has_defaults: Whether the session has the settings that Spark and Delta have, in place of
            those that `changewire.spark.session` has for one machine.
    """

    name: str
    server: str
    topic: str
    warm_up: str
    folder: str
    batch: int
    seed: int = 0
    layout: str = "plain"
    tables: int = 1
    format: str = "delta"
    is_warm: bool = True
    has_defaults: bool = False

    @property
    def table(self) -> str:
        """The merged table."""
        return str(Path(self.folder, TABLE))

    @property
    def log(self) -> str:
        """The change log."""
        return str(Path(self.folder, "log", "changes"))

    @property
    def checkpoint(self) -> str:
        """The checkpoint of its query."""
        return str(Path(self.folder, "checkpoint"))

    @property
    def outputs(self) -> dict[str, Any]:
        """The arguments of `write_stream` and `apply_changes` that name places."""
        log = Path(self.folder, "log")
        others = {name: str(log / name) for name in ("controls", "dead_letters")}
        return {"changes": self.log, **others, "checkpoint": self.checkpoint, "trigger": ONCE}

    def place(self, table: str) -> str:
        """Return where a table is: a path of Delta, or a name in the catalog of Iceberg."""
        folder = Path(self.folder)
        return str(folder / table) if self.format == "delta" else f"ice.{folder.name}.{table}"


def messages(job: Job) -> DataFrame:
    """Return the topic as a stream, in batches of one size."""
    options: dict[str, str | int] = {
        "kafka.bootstrap.servers": job.server,
        "subscribe": job.topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": job.batch,
    }
    return cws.read_kafka(cws.session(), options)


def _log(job: Job) -> StreamingQuery:
    decoded = cws.decode(messages(job), format=FORMAT)
    return cws.write_stream(decoded, **job.outputs)


def _log_by_hand(job: Job) -> StreamingQuery:
    return by_hand.land(messages(job), log=job.log, checkpoint=job.checkpoint, trigger=ONCE)


def _typed(job: Job) -> StreamingQuery:
    target = f"{job.folder}/{{table}}"
    return cws.apply_changes(messages(job), format=FORMAT, target=target, rows=ROW, **job.outputs)


def _json(job: Job) -> StreamingQuery:
    target = f"{job.folder}/{{table}}"
    return cws.apply_changes(messages(job), format=FORMAT, target=target, **job.outputs)


def _one_log(job: Job) -> StreamingQuery:
    place = str(Path(job.folder, "one", "log"))
    return land(messages(job), format=FORMAT, log=place, checkpoint=job.checkpoint, trigger=ONCE)


def _one_merge(job: Job, deletes: str) -> StreamingQuery:
    return apply_changes(
        messages(job),
        format=FORMAT,
        log=job.place("one_log"),
        sink=job.format,
        target=job.place("{table}"),
        rows=ROW,
        deletes=deletes,
        checkpoint=job.checkpoint,
        trigger=ONCE,
    )


def _merge_by_hand(job: Job) -> StreamingQuery:
    places = {"table": job.table, "checkpoint": job.checkpoint}
    return by_hand.merge(messages(job), log=None, trigger=ONCE, **places)


def _both_by_hand(job: Job) -> StreamingQuery:
    places = {"table": job.table, "log": job.log, "checkpoint": job.checkpoint}
    return by_hand.merge(messages(job), trigger=ONCE, **places)


def _tables(job: Job) -> StreamingQuery:
    names = ("changes", "controls", "dead_letters")
    outputs: dict[str, Any] = {name: job.place(name) for name in names}
    return cws.apply_changes(
        messages(job),
        format=FORMAT,
        sink=job.format,
        target=job.place("{table}"),
        rows=ROW,
        checkpoint=job.checkpoint,
        trigger=ONCE,
        **outputs,
    )


def _tables_by_hand(job: Job) -> StreamingQuery:
    is_path = job.format == "delta"
    places = {name: job.place(name) for name in table_names(job.tables)}
    return tables_by_hand.merge(
        messages(job),
        tables={n: f"delta.`{place}`" if is_path else place for n, place in places.items()},
        log=job.place("changes"),
        format=job.format,
        checkpoint=job.checkpoint,
        trigger=ONCE,
    )


def _safe_by_hand(job: Job) -> StreamingQuery:
    places = {"table": job.table, "log": job.log, "checkpoint": job.checkpoint}
    counts: list[dict[str, int]] = []
    return safe.merge(messages(job), trigger=ONCE, told=counts.append, **places)


JOBS: Final[Mapping[str, Callable[[Job], StreamingQuery]]] = {
    LOG: _log,
    LOG_BY_HAND: _log_by_hand,
    TYPED: _typed,
    JSON: _json,
    MERGE_BY_HAND: _merge_by_hand,
    BOTH_BY_HAND: _both_by_hand,
    TABLES: _tables,
    TABLES_BY_HAND: _tables_by_hand,
    SAFE_BY_HAND: _safe_by_hand,
    ONE_LOG: _one_log,
    REMOVED: partial(_one_merge, deletes="remove"),
    FLAGGED: partial(_one_merge, deletes="flag"),
}
"""What starts each job."""
