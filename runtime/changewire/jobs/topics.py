"""Jobs on Kafka topics, in Spark: one read of what they hold, a streaming query, and its replay."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.layout import OUTPUTS_AS
from changewire.engines.options import StreamOptions, TableOptions
from changewire.engines.outcome import Outcome
from changewire.engines.staging import staging
from changewire.jobs.checks import REPORTS, JobError, check_folder, check_output, choose_engine


def run_topics(
    options: Mapping[str, str],
    output: str,
    decode_options: DecodeOptions,
    *,
    packages: str | None = None,
    show_values: bool = False,
) -> Outcome:
    """Decode Kafka topics, from the earliest offset to the latest, and write a report beside them.

    The session is a local one unless there is one. The output is that of `changewire.job.run`.

    Args:
        options: Options of Spark's Kafka source, as `changewire.spark.read_kafka` takes them.
        output: Local folder for tables and report.
        decode_options: The format of the messages, and what they do not say themselves.
        packages: Maven coordinates of Spark's Kafka connector, for a session that is started.
        show_values: Whether the report's first dead letters show the start of their values.

    Raises:
        JobError: Spark cannot run or cannot read the topics, an option is wrong, the read failed,
            whose traceback is then in ``failure.txt`` in the output, or the output would replace
            files that no run wrote.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli``, ``spark`` or ``digest``.
    """
    from changewire.jobs.reported import reported

    check_output(Path(output), [], decode_options.elements_as)
    choose_engine("spark", [])
    from changewire.engines.spark.run import run_kafka

    with staging(output, (*OUTPUTS_AS[decode_options.elements_as], *REPORTS)) as folder:
        with _spark_errors("the read failed", output, options, show_values=show_values):
            outcome = run_kafka(
                options,
                str(folder.absolute()),
                decode_options=decode_options,
                packages=packages,
                show_values=show_values,
            )
        return reported(outcome, folder, output=output)


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
    """Write Kafka topics to tables by a streaming query, wait for its end, and write a report.

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

    with _spark_errors("the query failed", output, options, show_values=show_values):
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


def replay_dead_letters(
    output: str,
    decode_options: DecodeOptions,
    stream_options: StreamOptions,
    table_options: TableOptions,
    *,
    where: str | None = None,
    packages: str | None = None,
) -> tuple[int, int]:
    """Decode the dead letters of a stream again, and apply those that are valid by now.

    Args:
        output: Folder that `stream_topics` wrote.
        decode_options: The format of the messages, and what they do not say themselves.
        stream_options: Outputs, checkpoint and sink of the stream.
        table_options: Which tables changes are applied to.
        where: Condition in SQL on dead letters; None for all.
        packages: Maven coordinates of Spark's connectors, for a session that is started.

    Returns:
        How many dead letters there were, and how many were applied and marked.

    Raises:
        JobError: Spark cannot run, the tables are not there or do not fit, or the replay failed,
            whose traceback is then in ``failure.txt`` in the output.
    """
    choose_engine("spark", [])
    from changewire.engines.spark.apply.replay import replay_letters
    from changewire.engines.spark.run_stream import settings
    from changewire.engines.spark.session import session

    with _spark_errors("the replay failed", output, {}):
        spark = session(settings(packages, stream_options.sink, output))
        found = replay_letters(spark, decode_options, table_options, stream_options, where)
    return found.letters, found.marked


@contextmanager
def _spark_errors(
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
