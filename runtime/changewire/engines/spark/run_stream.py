"""Kafka topics to tables as a streaming query: the main job, going on where it ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from changewire.changes.reading import Reading
from changewire.engines.errors import StreamError
from changewire.engines.outcome import Outcome
from changewire.engines.spark.apply import apply_changes
from changewire.engines.spark.decode import decode
from changewire.engines.spark.kafka import KafkaOptions, address, read_kafka
from changewire.engines.spark.kafka.options import option
from changewire.engines.spark.session import is_remote, session
from changewire.engines.spark.stream import limit as limits
from changewire.engines.spark.stream.compatible import SETTINGS
from changewire.engines.spark.stream.ending import await_end
from changewire.engines.spark.stream.query import write_stream
from changewire.engines.spark.stream.sinks import Sink
from changewire.engines.spark.stream.totals import Totals

_NOW: Final = {"availableNow": True}

CATALOG: Final = "changewire"
"""Name of the catalog of Iceberg's tables in an output."""


@dataclass(frozen=True)
class Landing:
    """How a run lands a stream.

    Attributes:
        checkpoint: Folder of Spark's checkpoint.
        sink: Format of the outputs.
        continuous: Whether the query goes on when it has read what is there.
        max_dead_letters: How many dead letters a batch may hold; None for any number.
        dead_letters_topic: A topic of the same brokers that gets dead letters too.
        notice: Gets a line to read for each committed batch.
        metrics: Gets a line of JSON for each committed batch.
        tables: What `apply_changes` is told of tables, with ``target``; None where none are fed.
    """

    checkpoint: str
    sink: Sink = "delta"
    continuous: bool = False
    max_dead_letters: limits.Limit | None = None
    dead_letters_topic: str | None = None
    notice: Callable[[str], None] | None = None
    metrics: Callable[[str], None] | None = None
    tables: Mapping[str, Any] | None = None


def run_stream(
    options: KafkaOptions,
    output: str,
    *,
    reading: Reading,
    landing: Landing,
    packages: str | None = None,
    show_values: bool = False,
) -> Outcome:
    """Land Kafka topics below a folder by a streaming query, and wait until it ends.

    A new checkpoint begins at the earliest offset, unless ``startingOffsets`` says otherwise.

    Args:
        options: Options of Spark's Kafka source, as `read_kafka` takes them.
        output: Folder for ``changes``, ``controls`` and ``dead_letters``, to which is appended.
        reading: The format of the messages, and what they do not say themselves.
        landing: How the stream is landed.
        packages: Maven coordinates for a session that is started.
        show_values: Whether the outcome's first dead letters show the start of their values.

    Returns:
        What the batches that this run committed held.

    Raises:
        KafkaSourceError: An option is wrong, or the connector, a broker or a topic is not there.
        StreamError: Checkpoint or outputs do not fit, a batch has too many dead letters, or the
            session is one of Spark Connect.
        ConservationError: The rows of a batch do not add up.
        ValueError: There is no such sink or limit.
    """
    started = time.perf_counter()
    if landing.max_dead_letters is not None:
        limits.allowed(landing.max_dead_letters, 0)
    spark = session(settings(packages, landing.sink, output))
    if is_remote(spark):
        raise StreamError(
            "a run counts its batches in this process, and a session of Spark Connect writes them "
            "in another: use `changewire.spark.write_stream` or `apply_changes`"
        )
    messages = read_kafka(spark, _from_earliest(options))
    totals = Totals(landing.notice, landing.metrics, show_values=show_values)
    common = {**places(output, landing.sink), **_landed(landing, options, totals)}
    if landing.tables is None:
        query = write_stream(decode(messages, **asdict(reading)), **common)
    else:
        query = apply_changes(messages, **asdict(reading), **common, **landing.tables)
    ready = time.perf_counter()
    heard = await_end(query, progress=totals.committed)
    return Outcome(
        counts=totals.counts,
        format=reading.format,
        inputs=[address(options)],
        output=output,
        engine=f"spark {spark.version}",
        seconds=time.perf_counter() - started,
        first_dead_letters=totals.letters,
        stream=totals.stream(None if heard is None else heard.name),
        tables=None if landing.tables is None else dict(sorted(totals.tables.items())),
        start_seconds=ready - started,
    )


def places(output: str, sink: str) -> dict[str, Any]:
    """Return where the outputs are, by their arguments: in folders, or tables of `CATALOG`."""
    names = {"change_log": "changes", "controls": "controls", "dead_letters": "dead_letters"}
    start = f"{CATALOG}." if sink == "iceberg" else f"{output}/"
    return {name: f"{start}{folder}" for name, folder in names.items()}


def _landed(landing: Landing, options: KafkaOptions, totals: Totals) -> dict[str, Any]:
    """Return the arguments that `write_stream` and `apply_changes` share."""
    return {
        "checkpoint": landing.checkpoint,
        "sink": landing.sink,
        "trigger": None if landing.continuous else _NOW,
        "max_dead_letters": landing.max_dead_letters,
        "dead_letters_topic": landing.dead_letters_topic,
        "kafka": options,
        "written": totals.written,
        "metrics": totals.merged,
    }


def settings(packages: str | None, sink: str, output: str) -> dict[str, str]:
    """Return the settings of a session that is started.

    Iceberg gets a catalog `CATALOG`, whose tables are folders of the output.
    """
    found = {"spark.jars.packages": packages} if packages else {}
    catalog = {
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG}.warehouse": str(Path(output).resolve()),
    }
    return {**found, **SETTINGS.get(sink, {}), **(catalog if sink == "iceberg" else {})}


def _from_earliest(options: KafkaOptions) -> KafkaOptions:
    """Return options that say where to begin; Spark's own default leaves out what is there."""
    texts = {name: str(value) for name, value in options.items()}
    starts = any(option(texts, f"startingOffsets{form}") for form in ("", "ByTimestamp"))
    starts = starts or bool(option(texts, "startingTimestamp"))
    return options if starts else {**options, "startingOffsets": "earliest"}
