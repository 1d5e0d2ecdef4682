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
    DeletesOption,
    MaxDeadLetters,
    MaxNewTables,
    Metrics,
    NullSet,
    Options,
    Packages,
    Rows,
    RowsByTable,
    SchemaEvolutionOption,
    Servers,
    SinkOption,
    Subscribe,
    Target,
    Truncates,
    View,
)
from changewire.engines.options import ENGINES

Output: TypeAlias = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Folder of the log and the report.")
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
    metrics: Metrics = None,
    target: Target = None,
    rows: Rows = None,
    rows_by_table: RowsByTable = None,
    schema_evolution: SchemaEvolutionOption = None,
    deletes: DeletesOption = None,
    view: View = None,
    null_set: NullSet = None,
    apply_as_truncates: Truncates = False,
    max_new_tables: MaxNewTables = None,
    as_json: Json = False,
) -> int:
    """Append messages to a log of changes, control events and dead letters, and write a report.

    The log is DIR/log; report.json and report.html beside it are replaced. What the log has already
    is left out, so a run that was stopped is run again. With --as messages the log has each message
    as it is, in typed columns.

    The messages are those of files, or with --kafka those that topics hold now. With --checkpoint a
    streaming query reads them, and the next run continues where it ended. --target also merges the
    changes into Delta tables.

    Example: changewire run -f aerospike-json topic/ --output ops/
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
        rows,
        rows_by_table,
        schema_evolution,
        deletes,
        view,
        null_set,
        apply_as_truncates,
        max_new_tables,
    )
    if target is None:
        rows_as.check_unused(has_topics=bool(topics))
    tables = None if target is None else rows_as.options(target, max_dead_letters)
    if tables is not None and elements_as != "changes":
        raise typer.BadParameter(
            f"--target TABLE takes changes: it goes without --as {elements_as}"
        )
    stream = StreamArguments(checkpoint, sink, continuous, max_dead_letters, metrics)
    check_stream(stream, tables, has_topics=bool(topics), engine=engine, as_json=as_json)
    request = RunRequest(
        inputs,
        output,
        decode_options,
        engine,
        shape,
        topics,
        packages,
        None if checkpoint is None else stream_options(stream, output),
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
