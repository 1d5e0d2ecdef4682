"""A run as the command line asks for it: which job it is, and what is said of its outcome."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from signal import Signals
from typing import IO, TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from changewire.changes.decode_options import DecodeOptions
from changewire.cli.arguments import STDOUT
from changewire.cli.ending import REJECTED, SIGNALLED, VALID
from changewire.cli.records import given
from changewire.cli.spark import connectors, quieten_pyspark
from changewire.cli.stderr import batch_lines, console, counted, progress, say
from changewire.engines.options import StreamListener, StreamOptions, TableOptions

if TYPE_CHECKING:
    from changewire.engines.outcome import Outcome

_WORKING: Final = "reading and decoding"


@dataclass(frozen=True)
class RunRequest:
    """What a run is asked for.

    Attributes:
        inputs: Files or folders; None for standard input.
        topics: Options of Spark's Kafka source; empty if files are read.
        packages: The value of ``--packages``.
        stream: How a stream is written; None if the run has no checkpoint.
        metrics: File for a line of JSON for each batch.
        tables: Which tables changes are merged into; None for none.
        rows: How rows of the log are given, for a run without tables.
    """

    inputs: list[str] | None
    output: str
    decode_options: DecodeOptions
    engine: str
    shape: str
    topics: Mapping[str, str]
    packages: str | None
    stream: StreamOptions | None
    metrics: str | None
    tables: TableOptions | None
    rows: str
    show_values: bool
    as_json: bool


def outcome_of(request: RunRequest) -> Outcome:
    """Run the job that is asked for.

    Raises:
        JobError: The job cannot run.
        ConservationError: The decoded rows do not add up.
    """
    if request.topics:
        quieten_pyspark()
        return _read(request) if request.stream is None else _stream(request, request.stream)
    with progress(_WORKING, as_json=request.as_json) as line:

        def advance(messages: int) -> None:
            line.show(counted(messages, "message"))

        from changewire.jobs import files

        job = partial(files.run_files, rows=request.rows, engine=request.engine, notice=line.say)
        if request.tables is not None:
            job = partial(files.merge_files, table_options=request.tables)
        elif request.engine != "python":
            quieten_pyspark()
        return job(
            given(request.inputs),
            request.output,
            request.decode_options,
            shape=request.shape,
            show_values=request.show_values,
            progress=advance,
        )


def _read(request: RunRequest) -> Outcome:
    """Read what topics hold by now."""
    from changewire.jobs import topics

    packages = connectors(request.packages, ["kafka"], as_json=request.as_json)
    with progress(_WORKING, as_json=request.as_json):
        return topics.run_topics(
            request.topics,
            request.output,
            request.decode_options,
            packages=packages,
            show_values=request.show_values,
        )


def _stream(request: RunRequest, stream: StreamOptions) -> Outcome:
    """Read topics by a streaming query."""
    from changewire.jobs import topics

    packages = connectors(request.packages, ["kafka", stream.sink], as_json=request.as_json)
    with (
        _metric_lines(request.metrics) as metrics,
        batch_lines(as_json=request.as_json) as notice,
    ):
        return topics.stream_topics(
            request.topics,
            request.output,
            request.decode_options,
            replace(stream, listener=StreamListener(notice, metrics)),
            request.tables,
            packages=packages,
            show_values=request.show_values,
        )


@contextmanager
def _metric_lines(file: str | None) -> Generator[Callable[[str], None] | None, None, None]:
    """Give what appends lines to a file, flushed one by one; None if there is no file."""
    if file is None:
        yield None
    elif file == STDOUT:
        yield lambda line: _write_line(sys.stdout, line)
    else:
        with open(file, "a", encoding="utf-8") as lines:  # noqa: PTH123 - a name as it was given
            yield lambda line: _write_line(lines, line)


def _write_line(stream: IO[str], line: str) -> None:
    stream.write(f"{line}\n")
    stream.flush()


def exit_code(outcome: Outcome, *, continuous: bool) -> int:
    """Return the exit code of a run; a signal is the usual end of a continuous one."""
    signal = None if outcome.stream is None else outcome.stream.signal
    if signal is not None and not continuous:
        return SIGNALLED + Signals[signal]
    refused = (outcome.tables or {}).get("refused", 0)
    return REJECTED if outcome.counts.dead_letters or refused else VALID


def say_counts(outcome: Outcome) -> None:
    """Say what became of the messages, and where the report is."""
    from changewire.engines.applied import COUNTED, NOT_APPLIED

    counts = outcome.counts
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right")
    table.add_column()
    for number, what in (
        (counts.messages, "messages"),
        (counts.elements, "elements"),
        *counts.totals()[:-1],
    ):
        table.add_row(f"{number:,}", what)
    reasons = ", ".join(f"{code} {count:,}" for code, count in counts.by_error_code.most_common())
    style = "red" if counts.dead_letters else ""
    letters = f"dead letters ({reasons})" if reasons else "dead letters"
    table.add_row(Text(f"{counts.dead_letters:,}", style), Text(letters, style))
    if outcome.tables is not None:
        done = {n: number for n, number in outcome.tables.items() if n not in NOT_APPLIED}
        applied = ", ".join(f"{name} {number:,}" for name, number in done.items())
        table.add_row("", f"in tables: {applied or 'nothing'}")
        for name in NOT_APPLIED:
            if outcome.tables.get(name):
                table.add_row(f"{outcome.tables[name]:,}", COUNTED[name])
    if outcome.already_in_log:
        table.add_row(f"{outcome.already_in_log:,}", "of the elements were in the log already")
    console().print(table)
    if outcome.look_alikes is not None:
        say(str(outcome.look_alikes), "red")
    report = Path(outcome.output, "report.html")
    say(f"{outcome.seconds:.1f} s with {outcome.engine}{_times(outcome)}; report: {report}")


def _times(outcome: Outcome) -> str:
    """Return how long start and read took, for an engine that takes a while to start."""
    if not outcome.start_seconds:
        return ""
    return (
        f": {outcome.start_seconds:.1f} s to start, {outcome.read_seconds:.1f} s to read, "
        f"{outcome.messages_per_second:,.0f} messages a second"
    )
