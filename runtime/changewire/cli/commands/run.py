"""``changewire run``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.table import Table
from rich.text import Text

from changewire.cli.commands.changes import (
    DigestsOption,
    Families,
    ImageOption,
    Keys,
    NullValueOption,
    reading_of,
)
from changewire.cli.connectors import connectors
from changewire.cli.ending import GOOD, REFUSED, SIGNALLED, UNABLE, ending
from changewire.cli.file_rows import check_file_rows
from changewire.cli.lines import Lines
from changewire.cli.notices import notice
from changewire.cli.options import Inputs, Json, Shape, TopicFormat, choice_option
from changewire.cli.progress import progress
from changewire.cli.quiet import quieten_pyspark, quieten_spark
from changewire.cli.records import given
from changewire.cli.streams import (
    Checkpoint,
    Continuous,
    DeadLettersTopic,
    MaxDeadLetters,
    Metrics,
    NullSet,
    Rows,
    SchemaEvolutionOption,
    SinkOption,
    Target,
    Truncates,
    file_options,
    metric_lines,
    stream_options,
    table_options,
    told_batches,
)
from changewire.cli.talk import console, counted, say
from changewire.cli.topics import Options, Packages, Servers, Subscribe, kafka_options
from changewire.tables.counted import COUNTED_OFTEN, more_than

if TYPE_CHECKING:
    from changewire.engines.outcome import Outcome

ENGINES = ("auto", "spark", "python")
_WORKING = "reading and decoding"


Output: TypeAlias = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Folder for tables and report.")
]
EngineOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--engine",
        of=ENGINES,
        metavar="ENGINE",
        help="auto (Spark where it can run), spark or python.",
    ),
]
ShowValues: TypeAlias = Annotated[
    bool, typer.Option("--show-values", help="Show the start of refused messages in the report.")
]


@ending
def run(
    inputs: Inputs = None,
    *,
    format: TopicFormat,
    output: Output,
    engine: EngineOption = "auto",
    image: ImageOption = "full",
    keys: Keys = None,
    families: Families = None,
    digests: DigestsOption = "off",
    null_value: NullValueOption = "control",
    shape: Shape = "auto",
    show_values: ShowValues = False,
    servers: Servers = None,
    subscribe: Subscribe = None,
    options: Options = None,
    packages: Packages = None,
    checkpoint: Checkpoint = None,
    sink: SinkOption = None,
    continuous: Continuous = False,
    max_dead_letters: MaxDeadLetters = None,
    dead_letters_topic: DeadLettersTopic = None,
    metrics: Metrics = None,
    target: Target = None,
    rows: Rows = None,
    schema_evolution: SchemaEvolutionOption = None,
    null_set: NullSet = None,
    apply_as_truncates: Truncates = False,
    as_json: Json = False,
) -> int:
    """Turn messages into tables of changes, control events and dead letters, with a report.

    In DIR, changes, controls, dead_letters, report.json and report.html are replaced.

    Messages are those of files, or with --kafka those that topics hold by now. With --checkpoint
    they are appended by a streaming query, and the next run goes on behind them; --target merges
    their changes into Delta tables too.

    Example: changewire run -f aerospike-json topic/ --output tables/
    """
    reading = reading_of(format, image, keys, families, digests, null_value=null_value)
    topics = kafka_options(inputs, servers, subscribe, options, engine)
    check_file_rows(topics, rows, schema_evolution)
    tables = table_options(
        target,
        rows=rows,
        schema_evolution=schema_evolution,
        null_set=null_set,
        apply_as_truncates=apply_as_truncates,
    )
    streaming: Any = {
        "sink": sink,
        "continuous": continuous,
        "max_dead_letters": max_dead_letters,
        "dead_letters_topic": dead_letters_topic,
        "metrics": metrics,
    }
    common = {"show_values": show_values}
    merging = file_options(checkpoint, topics, engine, tables, **streaming)
    streaming |= {"as_json": as_json, "tables": tables}
    landing = None if merging else stream_options(checkpoint, topics, **streaming)
    quieten_spark()
    if merging is not None:
        files = {"reading": reading, "shape": shape, **merging, **common}
        job = partial(_files, inputs, output, files, as_json=as_json)
    elif landing is not None:
        stream = {"reading": reading, "packages": packages, **common, **landing}
        job = partial(_stream, topics, output, metrics, stream, as_json=as_json)
    elif topics:
        read = {**asdict(reading), **common}
        job = partial(_topics, topics, output, packages, read, as_json=as_json)
    else:
        files = {"engine": engine, "shape": shape, **asdict(reading), **common}
        job = partial(_files, inputs, output, files, as_json=as_json)
    outcome = _outcome(job, as_json=as_json)
    return _told(outcome, continuous=continuous, as_json=as_json)


def _told(outcome: Outcome | None, *, continuous: bool, as_json: bool) -> int:
    """Say what a run did; return its exit code."""
    if outcome is None:
        return UNABLE
    if as_json:
        from changewire.report.summary import summary

        Lines().write(summary(outcome))
    else:
        _say_counts(outcome)
    return _exit_code(outcome, continuous=continuous)


def _exit_code(outcome: Outcome, *, continuous: bool) -> int:
    """Return the code of a run that was done; a signal is the usual end of a continuous one."""
    heard = None if outcome.stream is None else outcome.stream.signal
    if heard is not None and not continuous:
        return SIGNALLED + Signals[heard]
    return REFUSED if outcome.counts.dead_letters else GOOD


def _outcome(job: Callable[[], Outcome], *, as_json: bool) -> Outcome | None:
    """Do the job; None where it could not be done, which is said."""
    from changewire.engines.counts import ConservationError
    from changewire.job import JobError

    try:
        return job()
    except (JobError, ConservationError) as error:
        notice("error", str(error).splitlines(), as_json=as_json)
        return None


def _files(
    inputs: list[str] | None, output: str, options: dict[str, Any], *, as_json: bool
) -> Outcome:
    """Run over files; into tables where the options tell of any."""
    from changewire import delta_job, job

    with progress(_WORKING, as_json=as_json) as shown:

        def advance(messages: int) -> None:
            shown.show(counted(messages, "message"))

        if "tables" in options:
            return delta_job.run_delta(given(inputs), output, progress=advance, **options)
        if options["engine"] != "python":
            quieten_pyspark()
        return job.run(given(inputs), output, progress=advance, notice=shown.say, **options)


def _topics(
    topics: Mapping[str, str],
    output: str,
    packages: str | None,
    read: dict[str, Any],
    *,
    as_json: bool,
) -> Outcome:
    from changewire import kafka_job

    quieten_pyspark()
    packages = connectors(packages, ["kafka"], as_json=as_json)
    with progress(_WORKING, as_json=as_json):
        return kafka_job.run_kafka(topics, output, packages=packages, **read)


def _stream(
    topics: Mapping[str, str],
    output: str,
    metrics: str | None,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> Outcome:
    from changewire import stream_job

    quieten_pyspark()
    needed = ["kafka", *(name for name in (options["sink"],) if name != "parquet")]
    packages = connectors(options.pop("packages"), needed, as_json=as_json)
    with metric_lines(metrics) as lines, told_batches(as_json=as_json) as told:
        return stream_job.run_stream(
            topics, output, packages=packages, notice=told, metrics=lines, **options
        )


def _say_counts(outcome: Outcome) -> None:
    """Say what became of the messages, and where the report is."""
    counts = outcome.counts
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right")
    table.add_column()
    for number, what in (
        (counts.messages, "messages"),
        (counts.elements, "elements"),
        (counts.changes, "changes"),
        (counts.controls, "control events"),
    ):
        table.add_row(f"{number:,}", what)
    reasons = ", ".join(f"{code} {count:,}" for code, count in counts.by_error_code.most_common())
    style = "red" if counts.dead_letters else ""
    letters = f"dead letters ({reasons})" if reasons else "dead letters"
    table.add_row(Text(f"{counts.dead_letters:,}", style), Text(letters, style))
    if outcome.tables is not None:
        did = ", ".join(f"{name} {number:,}" for name, number in outcome.tables.items())
        table.add_row("", f"in tables: {did or 'nothing'}")
        if more_than(outcome.tables, counts.changes):
            table.add_row("", COUNTED_OFTEN)
    console().print(table)
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
