"""``changewire run``."""

from typing import Annotated, TypeAlias

import typer

from changewire.cli.arguments import (
    JSON_ROWS,
    StreamArguments,
    TableArguments,
    check_stream,
    kafka_options,
    stream_options,
)
from changewire.cli.ending import UNABLE, ending
from changewire.cli.options import (
    DigestsOption,
    ElementsAsOption,
    Families,
    ImageOption,
    Inputs,
    Json,
    Keys,
    NullValueOption,
    Shape,
    StripRegistryPrefix,
    TimeZone,
    TopicFormat,
    choice_option,
    decode_options_of,
)
from changewire.cli.runs import RunRequest, exit_code, outcome_of, say_counts
from changewire.cli.spark import quieten_spark
from changewire.cli.stderr import notice
from changewire.cli.stdout import Lines
from changewire.cli.streams import (
    Checkpoint,
    Continuous,
    DeadLettersTopic,
    History,
    HistoryNames,
    MaxDeadLetters,
    Metrics,
    NullSet,
    Options,
    Packages,
    Rows,
    SchemaEvolutionOption,
    Servers,
    SinkOption,
    Subscribe,
    Target,
    Truncates,
)
from changewire.engines.options import ENGINES

Output: TypeAlias = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Folder for tables and report.")
]
EngineOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--engine",
        of=ENGINES,
        metavar="ENGINE",
        help="auto (Spark if it can run), spark or python.",
    ),
]
ShowValues: TypeAlias = Annotated[
    bool, typer.Option("--show-values", help="Show the start of rejected messages in the report.")
]


@ending
def run(
    inputs: Inputs = None,
    *,
    format: TopicFormat,
    output: Output,
    elements_as: ElementsAsOption = "changes",
    engine: EngineOption = "auto",
    image: ImageOption = "full",
    keys: Keys = None,
    families: Families = None,
    digests: DigestsOption = "off",
    null_value: NullValueOption = "control",
    time_zone: TimeZone = "UTC",
    strip_registry_prefix: StripRegistryPrefix = False,
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
    history: History = None,
    history_names: HistoryNames = None,
    as_json: Json = False,
) -> int:
    """Turn messages into tables of changes, control events and dead letters, with a report.

    In DIR, changes, controls, dead_letters, report.json and report.html are replaced. With --as
    messages there are messages in place of changes and controls: each as it is, in typed columns.

    Messages are those of files, or with --kafka those that topics hold by now. With --checkpoint
    they are appended by a streaming query, and the next run goes on behind them; --target merges
    their changes into Delta tables too.

    Example: changewire run -f aerospike-json topic/ --output tables/
    """
    decode_options = decode_options_of(
        format,
        image=image,
        keys=keys,
        families=families,
        digests=digests,
        null_value=null_value,
        time_zone=time_zone,
        strip_registry_prefix=strip_registry_prefix,
        elements_as=elements_as,
    )
    topics = kafka_options(inputs, servers, subscribe, options, engine)
    rows_as = TableArguments(
        rows, schema_evolution, null_set, apply_as_truncates, history, history_names
    )
    if target is None:
        rows_as.check_unused(has_topics=bool(topics))
    tables = None if target is None else rows_as.options(target)
    if tables is not None and elements_as != "changes":
        raise typer.BadParameter(
            f"--target TABLE takes changes: it goes without --as {elements_as}"
        )
    stream = StreamArguments(
        checkpoint, sink, continuous, max_dead_letters, dead_letters_topic, metrics
    )
    check_stream(stream, tables, has_topics=bool(topics), engine=engine, as_json=as_json)
    request = RunRequest(
        inputs,
        output,
        decode_options,
        engine,
        shape,
        topics,
        packages,
        None if checkpoint is None else stream_options(stream, output, topics, elements_as),
        metrics,
        tables,
        rows or JSON_ROWS,
        show_values,
        as_json,
    )
    quieten_spark()
    return _run(request, continuous=continuous)


def _run(request: RunRequest, *, continuous: bool) -> int:
    """Run a job, and say what it did; return the exit code."""
    from changewire.engines.counts import ConservationError
    from changewire.engines.interrupts import interruptible
    from changewire.jobs.checks import JobError

    try:
        with interruptible():
            outcome = outcome_of(request)
    except (JobError, ConservationError) as error:
        notice("error", str(error).splitlines(), as_json=request.as_json)
        return UNABLE
    if request.as_json:
        from changewire.report.write import summary

        Lines().write(summary(outcome))
    else:
        say_counts(outcome)
    return exit_code(outcome, continuous=continuous)
