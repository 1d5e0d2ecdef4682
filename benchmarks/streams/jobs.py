"""The jobs that are timed: each starts its query from a topic to a log, and to tables."""

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

LOG_BY_HAND, LOG = "plain by hand, log alone", "changewire, log alone"
PLAIN, SAFE, TABLES_BY_HAND = "plain by hand", "careful by hand", "plain by hand, any tables"
REMOVED, FLAGGED = (f"changewire, deleted rows {what}" for what in ("removed", "flagged"))
DECLARED = "changewire, flagged, columns as messages declare"
JSON = "changewire, JSON text"
LOCAL = "changewire, without Spark"


class Job(msgspec.Struct, frozen=True):
    """A job, as its process is told of it.

    Attributes:
        name: One of `JOBS`, or `LOCAL`.
        server: Bootstrap server of the broker.
        topic: The topic.
        warm_up: A small topic that is read first, untimed, into tables of its own.
        folder: Gets log, tables and checkpoint.
        batch: Messages of a batch, at most.
        seed: Rows that the table has before.
        tables: Number of tables; of `TABLES_BY_HAND` and ours, as is the next one.
        format: Table format: ``delta`` or ``iceberg``.
        is_backlog: Whether all batches land before the first one is applied, and count as one.
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
    tables: int = 1
    format: str = "delta"
    is_backlog: bool = False
    is_warm: bool = True
    has_defaults: bool = False

    @property
    def table(self) -> str:
        """The merged table, of one."""
        return self.place(TABLE)

    @property
    def log(self) -> str:
        """The log."""
        return self.place("log")

    @property
    def checkpoint(self) -> str:
        """The checkpoint of its query."""
        return str(Path(self.folder, "checkpoint"))

    @property
    def common(self) -> dict[str, Any]:
        """The arguments that all jobs have."""
        return {"log": self.log, "checkpoint": self.checkpoint, "trigger": ONCE}

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
    return cws.land(messages(job), format=FORMAT, **job.common)


def _merge(job: Job, **options: Any) -> cws.TableQueries:
    target, given = job.place("{table}"), {**job.common, **options}
    return cws.apply_changes(
        messages(job), format=FORMAT, table_format=job.format, target=target, **given
    )


def _log_by_hand(job: Job) -> StreamingQuery:
    return by_hand.land(messages(job), **job.common)


def _merge_by_hand(job: Job) -> StreamingQuery:
    return by_hand.merge(messages(job), table=job.table, **job.common)


def _safe_by_hand(job: Job) -> StreamingQuery:
    counts: list[dict[str, int]] = []
    return safe.merge(messages(job), table=job.table, told=counts.append, **job.common)


def _tables_by_hand(job: Job) -> StreamingQuery:
    is_path = job.format == "delta"
    places = {name: job.place(name) for name in table_names(job.tables)}
    tables = {n: f"delta.`{place}`" if is_path else place for n, place in places.items()}
    return tables_by_hand.merge(messages(job), tables=tables, format=job.format, **job.common)


JOBS: Final[Mapping[str, Callable[[Job], StreamingQuery | cws.TableQueries]]] = {
    LOG_BY_HAND: _log_by_hand,
    LOG: _log,
    PLAIN: _merge_by_hand,
    SAFE: _safe_by_hand,
    TABLES_BY_HAND: _tables_by_hand,
    REMOVED: partial(_merge, row_schema=ROW, deletes="remove"),
    FLAGGED: partial(_merge, row_schema=ROW, deletes="flag"),
    DECLARED: partial(_merge, row_schema="auto", deletes="flag"),
    JSON: partial(_merge, row_schema="json"),
}
"""What starts each job."""
