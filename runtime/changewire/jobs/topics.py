"""Kafka topics to a log and tables by a streaming query in Spark."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.options import StreamOptions, TableOptions
from changewire.engines.outcome import Outcome
from changewire.jobs.checks import JobError, check_folder, choose_engine


def stream_topics(
    options: Mapping[str, str],
    output: str,
    decode_options: DecodeOptions,
    stream_options: StreamOptions,
    table_options: TableOptions | None = None,
    *,
    packages: str | None = None,
    show_values: bool = False,
) -> Outcome:
    """Write Kafka topics to a log and tables by a streaming query, and write a report at its end.

    The report holds what this run committed; the next run with the same checkpoint resumes behind
    it. SIGINT and SIGTERM end the query after the batch that it is at.

    Args:
        options: Options of Spark's Kafka source, as `changewire.spark.read_kafka` takes them.
        output: Local folder for tables and report.
        decode_options: The format of the messages, and what they do not say themselves.
        stream_options: How the stream is written. Its listener's ``notice`` and ``metrics`` get a
            line for each batch that was committed.
        table_options: Which tables changes are applied to; None if they are only logged.
        packages: Maven coordinates of Spark's connectors, for a session that is started.
        show_values: Whether the report's first dead letters show the start of their values.

    Raises:
        JobError: Spark cannot run or cannot read the topics, checkpoint or output do not fit, a
            batch has too many dead letters, or the query failed; its text holds no secret. The
            traceback of a query that failed is in ``failure.txt`` in the output.
        ConservationError: The rows of a batch do not add up.
        ImportError: A library is missing; its extra is ``cli``, ``spark`` or ``digest``.
    """
    from changewire.report.write import write

    check_folder(Path(output))
    choose_engine("spark", [])
    from changewire.engines.spark.run_stream import run_stream

    with spark_errors("the query failed", output, options, show_values=show_values):
        outcome = run_stream(
            options,
            output,
            decode_options=decode_options,
            stream_options=stream_options,
            table_options=table_options,
            packages=packages,
            show_values=show_values,
        )
    Path(output).mkdir(parents=True, exist_ok=True)
    write(outcome)
    return outcome


@contextmanager
def spark_errors(
    what: str, output: str, options: Mapping[str, str], *, show_values: bool = False
) -> Generator[None, None, None]:
    """Raise a `JobError` in place of what Spark raises, without its cause: it may show options."""
    from changewire.engines.errors import StreamError
    from changewire.engines.spark.failure import failure
    from changewire.engines.spark.kafka.errors import KafkaSourceError
    from changewire.engines.spark.raised import RAISED

    try:
        yield
    except (KafkaSourceError, StreamError) as error:
        raise JobError(str(error)) from None
    except RAISED as error:
        text = failure(what, error, output, options, show_values=show_values)
        raise JobError(text) from None
    except ValueError as error:
        raise JobError(str(error)) from None
