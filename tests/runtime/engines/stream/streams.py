"""Streams from Parquet files, one file a batch, and what their outputs must hold."""

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
from changewire.engines.layout import HEADERS, INPUT_COLUMNS

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
KINDS = {"changes": "change", "controls": "control", "dead_letters": "dead_letter"}


@dataclass
class Stream:
    """A folder of messages, and the query that lands them.

    Attributes:
        root: Holds messages, checkpoint and outputs.
        sink: Format of the outputs.
        sent: All messages so far, by offset.
    """

    root: Path
    sink: str = "parquet"
    sent: list[bytes | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Skip the test where the sink was not run with this Spark."""
        need(self.sink)

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

    def targets(self) -> dict[str, str]:
        """Return where the outputs are."""
        return {name: str(self.root / name) for name in KINDS}

    def start(self, spark: SparkSession, **options: Any) -> Any:
        """Start the query."""
        wrap: Callable[[cws.DecodedFrames], cws.DecodedFrames] | None = options.pop("wrap", None)
        rows = options.pop("rows", "json")
        decoded = cws.decode(self.read(spark), format=FORMAT, rows=rows)
        chosen: dict[str, Any] = {
            **self.targets(),
            "checkpoint": str(self.root / "checkpoint"),
            "sink": self.sink,
            "trigger": {"availableNow": True},
            **options,
        }
        return cws.write_stream(decoded if wrap is None else wrap(decoded), **chosen)

    def land(self, spark: SparkSession, **options: Any) -> Any:
        """Run the query over all messages that are there."""
        query = self.start(spark, **options)
        cws.await_end(query)
        return query

    def output(self, spark: SparkSession, name: str) -> DataFrame:
        """Return the rows of an output."""
        return spark.read.format(self.sink).load(self.targets()[name])

    def landed(self, spark: SparkSession) -> dict[str, Counter[tuple[int, int]]]:
        """Return offset and element of the rows of each output, with how often each is there."""
        return {
            name: Counter(
                (row["offset"], row["element"])
                for row in self.output(spark, name).select("offset", "element").collect()
            )
            for name in KINDS
        }

    def expected(self) -> dict[str, Counter[tuple[int, int]]]:
        """Return what `landed` must be, from one message after the other."""
        decode_options = DecodeOptions(FORMAT)
        found: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in KINDS}
        for offset, message in enumerate(self.sent):
            for element, (result, _) in enumerate(decode_options.elements(message, b"k")):
                op = getattr(result, "op", None)
                changes = {"insert", "update", "upsert", "delete", "read"}
                name = "changes" if op in changes else "controls" if op else "dead_letters"
                found[name][offset, element] += 1
        return found


def stream(root: Path, batches: int, sink: str = "parquet") -> Stream:
    """Return a stream with some batches of mixed messages."""
    made = Stream(root, sink)
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
