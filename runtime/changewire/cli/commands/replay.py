"""``changewire replay``."""

from typing import Annotated

import typer

from changewire.cli.arguments import StreamArguments, TableArguments, stream_options, whole
from changewire.cli.ending import REJECTED, UNABLE, VALID, ending
from changewire.cli.options import (
    DigestsOption,
    Families,
    ImageOption,
    Json,
    Keys,
    NullValueOption,
    StripRegistryPrefix,
    TimeZone,
    TopicFormat,
    decode_options_of,
    text_option,
)
from changewire.cli.spark import connectors, quieten_pyspark, quieten_spark
from changewire.cli.stderr import notice, say
from changewire.cli.stdout import Lines
from changewire.cli.streams import (
    History,
    HistoryNames,
    NullSet,
    Packages,
    Rows,
    SchemaEvolutionOption,
    SinkOption,
    Truncates,
)


@ending
def replay(
    output: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder of a stream's outputs: run's --output.")
    ],
    *,
    format: TopicFormat,
    target: Annotated[str, typer.Option(metavar="TABLE", help="The tables that the stream feeds.")],
    checkpoint: Annotated[str, typer.Option(metavar="DIR", help="The checkpoint of the stream.")],
    where: Annotated[
        str | None,
        text_option(
            metavar="SQL", help="Which dead letters: a condition such as code = 'unknown-variant'."
        ),
    ] = None,
    image: ImageOption = "full",
    keys: Keys = None,
    families: Families = None,
    digests: DigestsOption = "off",
    null_value: NullValueOption = "control",
    time_zone: TimeZone = "UTC",
    strip_registry_prefix: StripRegistryPrefix = False,
    rows: Rows = None,
    schema_evolution: SchemaEvolutionOption = None,
    null_set: NullSet = None,
    apply_as_truncates: Truncates = False,
    history: History = None,
    history_names: HistoryNames = None,
    sink: SinkOption = None,
    packages: Packages = None,
    as_json: Json = False,
) -> int:
    """Decode the dead letters of a stream again, and apply what is valid by now.

    Changes have their original order, and what was applied is marked: a second replay does nothing.
    The exit code is 1 if dead letters are left.

    Example: changewire replay ops/ -f lindorm-json --target lake/ --checkpoint cp/
    """
    from changewire.engines.interrupts import interruptible
    from changewire.jobs.checks import JobError
    from changewire.jobs.topics import replay_dead_letters

    decode_options = decode_options_of(
        format,
        image=image,
        keys=keys,
        families=families,
        digests=digests,
        null_value=null_value,
        time_zone=time_zone,
        strip_registry_prefix=strip_registry_prefix,
    )
    tables = TableArguments(
        rows, schema_evolution, null_set, apply_as_truncates, history, history_names
    ).options(target)
    folder = whole(output)
    stream = stream_options(StreamArguments(checkpoint, sink), folder)
    quieten_spark()
    quieten_pyspark()
    try:
        with interruptible():
            letters, marked = replay_dead_letters(
                folder,
                decode_options,
                stream,
                tables,
                where=where,
                packages=connectors(packages, [stream.sink], as_json=as_json),
            )
    except JobError as error:
        notice("error", str(error).splitlines(), as_json=as_json)
        return UNABLE
    if as_json:
        Lines().write({"dead_letters": letters, "replayed": marked})
    else:
        say(f"{marked:,} of {letters:,} dead letters were applied")
    return VALID if marked >= letters else REJECTED
