"""A run as the command line asks for it: which job it is, and what is said of its outcome."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from changewire.changes.values import READ_IN_UTC
from changewire.cli.ending import REJECTED
from changewire.cli.fail_on import exit_code, say_losses
from changewire.cli.records import given
from changewire.cli.spark import connectors, quieten_pyspark, quieten_spark
from changewire.cli.stderr import batch_lines, console, counted, progress, say
from changewire.cli.stdout import STDOUT, Lines
from changewire.engines.errors import JobError
from changewire.engines.options import FileRun, StreamListener, StreamRun
from changewire.report.text import NAME, visible

if TYPE_CHECKING:
    from changewire.engines.outcome import Outcome
    from changewire.engines.stream.options import LocalStream

_WORKING: Final = "reading and decoding"

_TABLES: Final = 10
"""Tables that are named at most."""

_COLUMNS: Final = 5
"""Columns of a table that are named at most."""


def run_job(
    job: Callable[[], Outcome],
    output: str,
    fail_on: str,
    *,
    is_continuous: bool = False,
    as_json: bool,
) -> int:
    """Run a job into an output folder, say what it did, and return the exit code.

    Raises:
        JobError: It cannot run, or the decoded rows do not add up.
    """
    from changewire.engines.counts import ConservationError
    from changewire.engines.interrupts import interruptible
    from changewire.report.write import next_command, summary

    printed = quieten_spark(output)
    try:
        with interruptible(printed):
            outcome = job()
    except ConservationError as error:
        raise JobError(str(error)) from None
    code = exit_code(outcome, fail_on, is_continuous=is_continuous)
    if as_json:
        Lines().write(summary(outcome))
    else:
        say_counts(outcome)
        if printed is not None and outcome.engine.startswith("spark"):
            say(f"Spark's output: {printed}")
    say_losses(outcome, next_command(outcome), is_failure=code == REJECTED, as_json=as_json)
    if not as_json:
        say(f"exit code {code} (--fail-on {fail_on})")
    return code


def land_files(inputs: list[str] | None, output: str, asked: FileRun, *, as_json: bool) -> Outcome:
    """Land files in a log, or also merge them into tables.

    Raises:
        JobError: The job cannot run.
        ConservationError: The decoded rows do not add up.
    """
    with progress(_WORKING, as_json=as_json) as line:

        def advance(messages: int) -> None:
            line.show(counted(messages, "message"))

        from changewire.jobs.checks import check_engine
        from changewire.jobs.files import run_files

        names = given(inputs)
        if asked.engine == "spark":
            check_engine("spark", names)
            quieten_pyspark()
            packages = connectors(None, ["delta"], as_json=as_json)
            asked = replace(asked, packages=packages, notice=line.say)
        return run_files(names, output, replace(asked, progress=advance))


def land_topics(
    topics: Mapping[str, str],
    output: str,
    asked: StreamRun,
    *,
    metrics: str | None,
    as_json: bool,
) -> Outcome:
    """Land topics in a log by a streaming query, or also merge them into tables.

    `metrics` names a file for a line of JSON for each batch.

    Raises:
        JobError: The job cannot run.
        ConservationError: The rows of a batch do not add up.
    """
    from changewire.jobs.topics import stream_topics

    quieten_pyspark()
    stream = asked.stream_options
    packages = connectors(asked.packages, ["kafka", stream.table_format], as_json=as_json)
    with _metric_lines(metrics) as lines, batch_lines(as_json=as_json) as notice:
        stream = replace(stream, listener=StreamListener(notice, lines))
        return stream_topics(
            topics, output, replace(asked, stream_options=stream, packages=packages)
        )


def land_topics_locally(
    topics: Mapping[str, str],
    output: str,
    asked: LocalStream,
    *,
    metrics: str | None,
    as_json: bool,
) -> Outcome:
    """Do what `land_topics` does without Spark."""
    from changewire.jobs.topics import stream_locally

    with _metric_lines(metrics) as lines, batch_lines(as_json=as_json) as notice:
        listener = StreamListener(notice, lines)
        return stream_locally(topics, output, replace(asked, listener=listener))


@contextmanager
def _metric_lines(file: str | None) -> Generator[Callable[[str], None] | None, None, None]:
    """Give what appends lines to a file, flushed one by one; None if there is no file.

    Its folder is created: it may be that of the output, which the run has yet to create.
    """
    if file is None:
        yield None
    elif file == STDOUT:
        yield lambda line: _write_line(sys.stdout, line)
    else:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a", encoding="utf-8") as lines:  # noqa: PTH123 - a name as it was given
            yield lambda line: _write_line(lines, line)


def _write_line(stream: IO[str], line: str) -> None:
    stream.write(f"{line}\n")
    stream.flush()


def say_counts(outcome: Outcome) -> None:
    """Say what became of the messages, and the path of the report."""
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
    for applied, what in _in_tables(outcome):
        table.add_row(applied, Text(what))
    if dates := counts.leniencies[READ_IN_UTC]:
        table.add_row(f"{dates:,}", "dates were read in UTC: --time-zone names the zone they have")
    if outcome.already_in_log:
        table.add_row(f"{outcome.already_in_log:,}", "of the elements were in the log already")
    console().print(table)
    if outcome.look_alikes is not None:
        say(str(outcome.look_alikes), "red")
    report = Path(outcome.output, "report.html")
    say(f"{outcome.seconds:.1f} s with {outcome.engine}{_times(outcome)}; report: {report}")


def _in_tables(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield numbers, if a line has one alone, and words for what became of changes in tables."""
    from changewire.engines.applied import COUNTED, NOT_APPLIED

    if outcome.tables is None:
        return
    done = {n: number for n, number in outcome.tables.items() if n not in NOT_APPLIED}
    applied = ", ".join(f"{name} {number:,}" for name, number in done.items())
    yield "", f"in tables: {applied or 'nothing'}"
    for line in _by_table(outcome):
        yield "", line
    for name in NOT_APPLIED:
        if outcome.tables.get(name):
            yield f"{outcome.tables[name]:,}", COUNTED[name]


def _by_table(outcome: Outcome) -> Iterator[str]:
    """Yield what became of the changes of the first tables."""
    from changewire.engines.by_table import BECAME
    from changewire.report.write import override

    by_table = sorted(outcome.changes_by_table.items(), key=lambda one: (-one[1].changes, one[0]))
    for name, one in by_table[:_TABLES]:
        numbers = one.numbers()
        parts = (f"{numbers[key]:,} {words}" for key, words in BECAME.items() if key in numbers)
        yield f"{visible(name, NAME)}: {counted(one.changes, 'change')}: {', '.join(parts)}"
        if one.rescued:
            most = sorted(one.rescued.items(), key=lambda each: (-each[1], each[0]))[:_COLUMNS]
            columns = ", ".join(f"{visible(column, NAME)} {number:,}" for column, number in most)
            option = override(name, one.rescued)
            takes = f"; {option} takes any value" if option else ""
            yield f"  values that did not fit their columns: {columns}{takes}"
    if len(by_table) > _TABLES:
        yield f"the report has {counted(len(by_table) - _TABLES, 'other table')}"


def _times(outcome: Outcome) -> str:
    """Return how long start and read took, for an engine that takes a while to start."""
    if not outcome.start_seconds:
        return ""
    return (
        f": {outcome.start_seconds:.1f} s to start, {outcome.read_seconds:.1f} s to read, "
        f"{outcome.messages_per_second:,.0f} messages a second"
    )
