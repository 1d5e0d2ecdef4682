"""Streams from Parquet files, one file a batch, and what their log must hold."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.samples import FORMAT, mixed_messages
from tests.support.session import need

import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.layout import (
    CHANGE,
    CHANGE_OPS,
    CONTROL,
    DEAD_LETTER,
    HEADERS,
    INPUT_COLUMNS,
)
from changewire.engines.options import AVAILABLE_NOW, StreamListener, StreamOptions
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.land import land_counted
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.messages import frames_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Messages = Sequence[bytes | None]

KAFKA = {
    **{name: INPUT_COLUMNS[name] for name in ("key", "value", "topic", "partition", "offset")},
    "timestamp": INPUT_COLUMNS["timestamp"],
    "headers": HEADERS,
}
TYPE = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, "
    "headers array<struct<key string, value binary>>"
)
AT = datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc)


@dataclass
class Stream:
    """A folder of messages, and the query that lands them.

    Attributes:
        root: Holds messages, checkpoint and log.
        table_format: Format of the log.
        sent: All messages so far, by offset.
        name: Name of the log in a catalog; empty for a path.
    """

    root: Path
    table_format: str = "delta"
    sent: list[bytes | None] = field(default_factory=list)
    name: str = ""

    def __post_init__(self) -> None:
        """Skip the test where the table format was not run with this Spark."""
        need(self.table_format)

    def send(self, messages: Messages) -> None:
        """Add a file of messages, which the query reads as one batch."""
        folder = self.root / "messages"
        folder.mkdir(parents=True, exist_ok=True)
        first = len(self.sent)
        self.sent += messages
        rows = {
            "key": [b"k"] * len(messages),
            "value": list(messages),
            "topic": ["t"] * len(messages),
            "partition": [3] * len(messages),
            "offset": list(range(first, len(self.sent))),
            "timestamp": [AT] * len(messages),
            "headers": [[{"key": "h", "value": b"v"}]] * len(messages),
        }
        columns = {name: pa.array(rows[name], kind) for name, kind in KAFKA.items()}
        place = folder / f"{first:08}.parquet"
        begun = place.with_name(f".{place.name}")
        pq.write_table(pa.table(columns), begun)
        os.utime(begun, (first, first))  # files are read in the order of their age
        begun.replace(place)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the messages as a stream."""
        source = spark.readStream.schema(TYPE).option("maxFilesPerTrigger", 1)
        return source.parquet(str(self.root / "messages"))

    @property
    def place(self) -> LogPlace:
        """The log."""
        return LogPlace(self.name or str(self.root / "log"), self.table_format)

    def start(self, spark: SparkSession, **options: Any) -> Any:
        """Start the query that counts its batches, as a run of the command line does."""
        wrap: Callable[[Frames], Frames] | None = options.pop("wrap", None)
        rows, elements_as = options.pop("row_schema", "json"), options.pop("elements_as", "changes")
        named = ("notice", "metrics", "written")
        listener = StreamListener(**{name: options.pop(name, None) for name in named})
        chosen: dict[str, Any] = {
            "log": self.place.target,
            "checkpoint": str(self.root / "checkpoint"),
            "table_format": self.table_format,
            "trigger": AVAILABLE_NOW,
            **options,
        }
        stream = StreamOptions(**chosen, listener=listener)
        decode_options = DecodeOptions(FORMAT, elements_as=elements_as)
        decoded = frames_by(decode_options, self.read(spark), rows)
        return land_counted(decoded if wrap is None else wrap(decoded), stream)

    def land(self, spark: SparkSession, **options: Any) -> Any:
        """Run that query over all messages that are there."""
        query = self.start(spark, **options)
        cws.await_termination(query)
        return query

    def land_plainly(self, spark: SparkSession, **options: Any) -> Any:
        """Run the query of `changewire.spark.land` over all messages that are there."""
        query = cws.land(
            self.read(spark),
            format=FORMAT,
            log=self.place.target,
            checkpoint=str(self.root / "checkpoint"),
            table_format=self.table_format,
            trigger=AVAILABLE_NOW,
            **options,
        )
        cws.await_termination(query)
        return query

    def log(self, spark: SparkSession) -> DataFrame:
        """Return the rows of the log."""
        return self.place.read(spark)

    def landed(self, spark: SparkSession) -> Counter[tuple[str, int, int]]:
        """Return kind, offset and element of the rows of the log, with how often each is there."""
        return Counter(map(tuple, self.log(spark).select("kind", "offset", "element").collect()))

    def expected(self) -> Counter[tuple[str, int, int]]:
        """Return what `landed` must be, from one message after the other."""
        decode_options = DecodeOptions(FORMAT)
        found: Counter[tuple[str, int, int]] = Counter()
        for offset, message in enumerate(self.sent):
            for element, (result, _) in enumerate(decode_options.elements(message, b"k")):
                op = getattr(result, "op", None)
                kind = CHANGE if op in CHANGE_OPS else CONTROL if op else DEAD_LETTER
                found[kind, offset, element] += 1
        return found


def stream(root: Path, batches: int, table_format: str = "delta") -> Stream:
    """Return a stream with some batches of mixed messages."""
    made = Stream(root, table_format)
    for _ in range(batches):
        made.send(mixed_messages())
    return made


@dataclass
class Landed:
    """A stream that was landed, and what its query said.

    Attributes:
        stream: The stream.
        delivered: Rows that the source says it gave.
        notices: Lines to read.
        metrics: Lines of JSON.
    """

    stream: Stream
    delivered: int
    notices: list[str]
    metrics: list[str]
