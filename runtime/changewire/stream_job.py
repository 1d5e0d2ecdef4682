"""The main job as a streaming query: Kafka topics in, tables and a report out; and its replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from changewire.changes.reading import Reading
from changewire.engines.outcome import Outcome
from changewire.job import JobError, check_folder, choose


def run_stream(
    options: Mapping[str, str],
    output: str,
    *,
    reading: Reading,
    checkpoint: str,
    sink: str = "delta",
    continuous: bool = False,
    max_dead_letters: int | str | None = None,
    dead_letters_topic: str | None = None,
    tables: Mapping[str, Any] | None = None,
    packages: str | None = None,
    show_values: bool = False,
    notice: Callable[[str], None] | None = None,
    metrics: Callable[[str], None] | None = None,
) -> Outcome:
    """Land Kafka topics in tables by a streaming query, wait for its end, and write a report.

    The report holds what this run committed; who runs again with the same checkpoint goes on
    behind it. SIGINT and SIGTERM end the query after the batch that it is at.

    Args:
        options: Options of Spark's Kafka source, as `changewire.spark.read_kafka` takes them.
        output: Local folder for tables and report.
        reading: The format of the messages, and what they do not say themselves.
        checkpoint: Folder of Spark's checkpoint, one for each query.
        sink: ``delta``, ``iceberg`` or ``parquet``.
        continuous: Whether the query waits for more when it has read what is there.
        max_dead_letters: A batch with more dead letters stops the query: a number, or a share of
            its elements such as ``"5%"``.
        dead_letters_topic: A topic of the same brokers that gets dead letters too.
        tables: Arguments of `changewire.spark.apply_changes` that tell of tables, with ``target``;
            None where changes are only logged.
        packages: Maven coordinates of Spark's connectors, for a session that is started.
        show_values: Whether the report's first dead letters show the start of their values.
        notice: Called with a line to read for each batch that was committed.
        metrics: Called with a line of JSON for each batch that was committed.

    Raises:
        JobError: Spark cannot run or cannot read the topics, checkpoint or output do not fit, a
            batch has too many dead letters, or the query failed; its text holds no secret. The
            traceback of a query that failed is in ``failure.txt`` in the output.
        ConservationError: The rows of a batch do not add up.
        ImportError: A library is missing; its extra is ``cli``, ``spark`` or ``digest``.
    """
    from changewire.report.write import write

    check_folder(Path(output))
    choose("spark", [])
    landing = {
        "checkpoint": checkpoint,
        "sink": sink,
        "continuous": continuous,
        "max_dead_letters": max_dead_letters,
        "dead_letters_topic": dead_letters_topic,
        "tables": tables,
        "notice": notice,
        "metrics": metrics,
    }
    outcome = _landed(options, output, reading, landing, packages, show_values=show_values)
    Path(output).mkdir(parents=True, exist_ok=True)
    write(outcome)
    return outcome


def replay(
    output: str,
    *,
    reading: Reading,
    checkpoint: str,
    tables: Mapping[str, Any],
    where: str | None = None,
    sink: str = "delta",
    packages: str | None = None,
) -> tuple[int, int]:
    """Decode the dead letters of a stream again, and apply what is good by now.

    Args:
        output: Folder that `run_stream` landed topics in.
        reading: The format of the messages, and what they do not say themselves.
        checkpoint: Folder of the query's checkpoint.
        tables: As in `run_stream`.
        where: Condition in SQL on dead letters; None for all.
        sink: ``delta`` or ``iceberg``, as `run_stream` had it.
        packages: Maven coordinates of Spark's connectors, for a session that is started.

    Returns:
        How many dead letters there were, and how many were applied and marked.

    Raises:
        JobError: Spark cannot run, the tables are not there or do not fit, or the replay failed,
            whose traceback is then in ``failure.txt`` in the output.
    """
    choose("spark", [])
    from changewire.engines.spark import StreamError, session
    from changewire.engines.spark import replay as replayed
    from changewire.engines.spark.failure import failure
    from changewire.engines.spark.raised import RAISED
    from changewire.engines.spark.run_stream import places, settings

    try:
        spark = session(settings(packages, sink, output))
        told = {**asdict(reading), **places(output, sink), **tables}
        found = replayed(spark, checkpoint=checkpoint, where=where, sink=sink, **told)
    except (StreamError, ValueError) as error:
        raise JobError(str(error)) from None
    except RAISED as error:
        raise JobError(failure("the replay failed", error, output, {})) from None
    return found.letters, found.marked


def _landed(
    options: Mapping[str, str],
    output: str,
    reading: Reading,
    landing: Mapping[str, Any],
    packages: str | None,
    *,
    show_values: bool,
) -> Outcome:
    from changewire.engines.spark import KafkaSourceError, StreamError
    from changewire.engines.spark.failure import failure
    from changewire.engines.spark.raised import RAISED
    from changewire.engines.spark.run_stream import Landing, run_stream

    try:
        return run_stream(
            options,
            output,
            reading=reading,
            landing=Landing(**landing),
            packages=packages,
            show_values=show_values,
        )
    except (KafkaSourceError, StreamError, ValueError) as error:
        raise JobError(str(error)) from None
    except RAISED as error:
        # Without its cause, which may show options as they are.
        text = failure("the query failed", error, output, options, show_values=show_values)
        raise JobError(text) from None
