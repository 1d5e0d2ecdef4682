"""Kafka topics to a log and tables, by a streaming query in Spark or in one process without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from changewire.changes.decode_options import AUTO
from changewire.codec import detect
from changewire.engines.errors import JobError
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.options import CHECKPOINT, StreamOptions, StreamRun
from changewire.engines.outcome import LookAlikes, Outcome
from changewire.jobs.checks import check_engine, check_folder

if TYPE_CHECKING:
    from changewire.engines.stream.options import LocalStream

_MOST: Final = 1000
"""Dead letters that are looked at for another format."""


def stream_topics(options: Mapping[str, str], output: str, asked: StreamRun) -> Outcome:
    """Write Kafka topics to a log and tables by a streaming query, and write a report at its end.

    The report has what this run committed; the next run with the same checkpoint resumes behind
    it. SIGINT and SIGTERM end the query after the batch that it is at.

    The options are those of Spark's Kafka source. The listener's ``notice`` and ``metrics`` get a
    line for each batch that was committed. The text of an error has no secret.
    """
    check_folder(Path(output))
    check_engine("spark", [])
    _check_not_local(asked.stream_options)
    from changewire.engines.spark.run import run_stream

    with spark_errors("the query failed", output, options, show_values=asked.show_values):
        outcome = run_stream(options, output, asked)
    return _written(outcome)


def stream_locally(topics: Mapping[str, str], output: str, asked: LocalStream) -> Outcome:
    """Do what `stream_topics` does without Spark: the log itself says how far it has the topics.

    The options of topics are those of `changewire.delta.stream`.
    """
    check_folder(Path(output))
    checkpoint = Path(output, CHECKPOINT)
    if checkpoint.exists():
        raise JobError(
            f"{output}: expected a log that no query in Spark writes to, found {checkpoint}; use "
            "--engine spark, or choose another output"
        )
    from changewire.delta import KafkaSourceError, StreamError  # says which library is missing
    from changewire.engines.stream.run import run_stream

    try:
        outcome = run_stream(topics, asked)
    except (KafkaSourceError, StreamError, ValueError) as error:
        raise JobError(str(error)) from None
    return _written(replace(outcome, output=output))


def _check_not_local(stream: StreamOptions) -> None:
    """Refuse a log that a stream without Spark writes to: Spark would append its records again."""
    is_new = not Path(stream.checkpoint).exists() and Path(stream.log, "_delta_log").is_dir()
    if not is_new or find_spec("deltalake") is None:
        return
    from changewire.engines.stream.positions import has_positions

    if has_positions(stream.log):
        raise JobError(
            f"{stream.log}: expected a log of Spark, with {stream.checkpoint}, found the log of a "
            "stream without Spark; use --engine python, or choose another output"
        )


def reported(outcome: Outcome, *, output: str, inputs: Sequence[str] | None = None) -> Outcome:
    """Write the report of a run to a folder, and return its outcome with all that it says.

    The outcome has the inputs as they were named; None keeps its own.
    """
    names = list(outcome.inputs if inputs is None else inputs)
    is_asked = outcome.counts.dead_letters and outcome.format != AUTO
    alikes = _look_alikes(Path(outcome.output), outcome.format) if is_asked else None
    return _written(replace(outcome, inputs=names, output=output, look_alikes=alikes))


def _look_alikes(log: Path, format: str) -> LookAlikes | None:
    """Return what most dead letters of a log, read in a format, look like; None if nothing else."""
    import pyarrow.dataset as ds

    is_dead = ds.field("kind") == DEAD_LETTER
    rows = ds.dataset(log, format="parquet").head(_MOST, columns=["value"], filter=is_dead)
    found = Counter(None if value is None else detect(value) for value in rows["value"].to_pylist())
    for name, count in found.most_common(1):
        if name is not None and name != format and 2 * count > len(rows):
            return LookAlikes(name, count, len(rows))
    return None


def _written(outcome: Outcome) -> Outcome:
    from changewire.report.write import write

    Path(outcome.output).mkdir(parents=True, exist_ok=True)
    write(outcome)
    return outcome


@contextmanager
def spark_errors(
    what: str, output: str, options: Mapping[str, str], *, show_values: bool = False
) -> Generator[None, None, None]:
    """Raise a `JobError` instead of what Spark raises, without its cause: it may show options."""
    from changewire.engines.errors import StreamError
    from changewire.engines.kafka_options import KafkaSourceError
    from changewire.engines.spark.cause import failure
    from changewire.engines.spark.jvm import RAISED

    try:
        yield
    except (KafkaSourceError, StreamError) as error:
        raise JobError(str(error)) from None
    except RAISED as error:
        text = failure(what, error, output, options, show_values=show_values)
        raise JobError(text) from None
