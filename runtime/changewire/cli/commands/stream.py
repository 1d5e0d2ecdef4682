"""``changewire stream``."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from changewire.cli.arguments import checkpoint_of, local_stream, merged_tables, stream_options
from changewire.cli.commands.run import EngineOption
from changewire.cli.config import Config
from changewire.cli.ending import ending
from changewire.cli.fail_on import ALL, FailOn
from changewire.cli.options import (
    DECODE_FLAGS,
    ElementsAsOption,
    Json,
    TopicFormat,
    decode_options_of,
    text_option,
    with_flags,
)
from changewire.cli.runs import land_topics, land_topics_locally, run_job
from changewire.cli.stdout import STDOUT
from changewire.cli.streams import (
    TABLE_FLAGS,
    ApplyEvery,
    BatchEvery,
    Checkpoint,
    CompactEvery,
    Continuous,
    MaxDeadLetters,
    Metrics,
    Output,
    Packages,
    ShowValues,
    TableFormatOption,
    Target,
)
from changewire.cli.topics import Options, pairs
from changewire.engines.options import StreamRun

if TYPE_CHECKING:
    from changewire.engines.outcome import Outcome

Servers = Annotated[
    str,
    typer.Option(
        "--kafka", metavar="HOST:PORT", help="Bootstrap servers of Kafka.", show_default=False
    ),
]
Subscribe = Annotated[
    str | None, text_option("--subscribe", metavar="TOPIC", help="Topics to read, comma-separated.")
]


@ending
@with_flags("elements_as", DECODE_FLAGS)
@with_flags("target", TABLE_FLAGS)
def stream(
    *,
    format: TopicFormat,
    servers: Servers,
    output: Output,
    engine: EngineOption = "spark",
    subscribe: Subscribe = None,
    options: Options = None,
    packages: Packages = None,
    checkpoint: Checkpoint = None,
    table_format: TableFormatOption = None,
    continuous: Continuous = False,
    batch_every: BatchEvery = None,
    apply_every: ApplyEvery = None,
    compact_every: CompactEvery = None,
    elements_as: ElementsAsOption = "changes",
    show_values: ShowValues = False,
    max_dead_letters: MaxDeadLetters = None,
    metrics: Metrics = None,
    target: Target = None,
    fail_on: FailOn = ALL,
    config: Config = None,
    as_json: Json = False,
    **flags: Any,
) -> int:
    """Append Kafka topics to a log, and write a report.

    The log is DIR/log. The stream ends when it has read the topics to their ends, and the next run
    continues there; with --continuous it runs until it is stopped. With --target, changes are also
    merged into tables. By default a streaming query in Spark does this, with --engine python one
    process without Java, which accepts the client options of librdkafka.

    Example: changewire stream -f auto --kafka broker:9092 --subscribe users -o lake/
    """
    del config  # it gave the other options their values
    tables = merged_tables(target, flags, elements_as, max_dead_letters)
    decode_options = decode_options_of(format, flags, tables=tables, elements_as=elements_as)
    if metrics == STDOUT and as_json:
        raise typer.BadParameter("--json and --metrics - both write to standard output")
    topics = {"kafka.bootstrap.servers": servers, **pairs(options)}
    if subscribe is not None:
        topics["subscribe"] = subscribe
    if apply_every is not None and tables is None:
        raise typer.BadParameter("--apply-every: only with --target TABLE")
    job: partial[Outcome]
    if engine == "python":
        _check_local(checkpoint, packages, table_format)
        every = {
            "batch_every": batch_every,
            "apply_every": apply_every,
            "compact_every": compact_every,
        }
        local = local_stream(
            output,
            decode_options,
            tables,
            is_continuous=continuous,
            max_dead_letters=max_dead_letters,
            show_values=show_values,
            every=every,
        )
        job = partial(land_topics_locally, topics, output, local)
    else:
        if batch_every is not None or compact_every is not None:
            raise typer.BadParameter("--batch-every and --compact-every need --engine python")
        log_options = stream_options(
            output,
            checkpoint_of(checkpoint, output),
            table_format,
            is_continuous=continuous,
            max_dead_letters=max_dead_letters,
            apply_every=apply_every,
        )
        asked = StreamRun(decode_options, log_options, tables, packages, show_values)
        job = partial(land_topics, topics, output, asked)
    job = partial(job, metrics=metrics, as_json=as_json)
    return run_job(job, output, fail_on, is_continuous=continuous, as_json=as_json)


def _check_local(checkpoint: str | None, packages: str | None, table_format: str | None) -> None:
    """Check that no option is given that needs Spark."""
    if checkpoint is not None or packages is not None or table_format == "iceberg":
        raise typer.BadParameter(
            "--checkpoint, --packages and --table-format iceberg need --engine spark"
        )
