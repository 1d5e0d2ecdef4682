"""``changewire run``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from changewire.cli.commands.changes import DigestsOption, Families, ImageOption, Keys, reading_of
from changewire.cli.ending import GOOD, REFUSED, UNABLE, ending
from changewire.cli.options import Inputs, Json, Shape, TopicFormat, one_of
from changewire.cli.quiet import quieten_spark
from changewire.cli.records import given
from changewire.cli.talk import console, counted, say
from changewire.cli.topics import Options, Packages, Servers, Subscribe, kafka_options

if TYPE_CHECKING:
    from changewire.engines.outcome import Outcome

ENGINES = ("auto", "spark", "python")
_CODES = 3


Output: TypeAlias = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Folder for tables and report.")
]
EngineOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="ENGINE",
        help="auto (Spark where it can run), spark or python.",
        callback=one_of(ENGINES),
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
    shape: Shape = "auto",
    show_values: ShowValues = False,
    servers: Servers = None,
    subscribe: Subscribe = None,
    options: Options = None,
    packages: Packages = None,
    as_json: Json = False,
) -> int:
    """Turn messages into tables of changes, control events and dead letters, with a report.

    In DIR, changes, controls, dead_letters, report.json and report.html are replaced.

    Messages are those of files, or with --kafka those that topics hold by now.

    Example: changewire run -f aerospike-json topic/ --output tables/
    """
    reading = reading_of(format, image, keys, families, digests)
    topics = kafka_options(inputs, servers, subscribe, options, engine)
    quieten_spark()
    read = {**asdict(reading), "show_values": show_values}
    outcome = _outcome(
        topics, inputs, output, packages=packages, engine=engine, shape=shape, read=read
    )
    if outcome is None:
        return UNABLE
    if as_json:
        sys.stdout.write(Path(output, "report.json").read_text(encoding="utf-8"))
    _say_counts(outcome)
    return REFUSED if outcome.counts.dead_letters else GOOD


def _outcome(
    topics: Mapping[str, str],
    inputs: list[str] | None,
    output: str,
    *,
    packages: str | None,
    engine: str,
    shape: str,
    read: dict[str, Any],
) -> Outcome | None:
    """Run the job on Kafka topics or on files; None where it could not, which is said."""
    from changewire import job, kafka_job
    from changewire.engines.counts import ConservationError

    try:
        with _progress() as progress:
            if topics:
                return kafka_job.run_kafka(topics, output, packages=packages, **read)
            files: dict[str, Any] = {"engine": engine, "shape": shape, "notice": say, **read}
            return job.run(given(inputs), output, progress=progress, **files)
    except (job.JobError, ConservationError) as error:
        say(str(error))
        return None


@contextmanager
def _progress() -> Generator[Callable[[int], None], None, None]:
    """Show on a terminal that work is done, and how many messages were read so far."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    talk = console()
    with Progress(*columns, console=talk, transient=True, disable=not talk.is_terminal) as bar:
        task = bar.add_task("reading and decoding", total=None)

        def advance(messages: int) -> None:
            bar.update(task, description=counted(messages, "message"))

        yield advance


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
    reasons = ", ".join(
        f"{code} {count:,}" for code, count in counts.by_error_code.most_common(_CODES)
    )
    style = "red" if counts.dead_letters else ""
    letters = f"dead letters ({reasons})" if reasons else "dead letters"
    table.add_row(Text(f"{counts.dead_letters:,}", style), Text(letters, style))
    console().print(table)
    report = Path(outcome.output, "report.html")
    say(f"{outcome.seconds:.1f} s with {outcome.engine}; report: {report}")
