"""``changewire replay``."""

from __future__ import annotations

from typing import Annotated

import typer

from changewire.cli.commands.changes import (
    DigestsOption,
    Families,
    ImageOption,
    Keys,
    NullValueOption,
    reading_of,
)
from changewire.cli.connectors import connectors
from changewire.cli.ending import GOOD, REFUSED, UNABLE, ending
from changewire.cli.lines import Lines
from changewire.cli.notices import notice
from changewire.cli.options import Json, TopicFormat, text_option
from changewire.cli.quiet import quieten_pyspark, quieten_spark
from changewire.cli.streams import (
    SINKS,
    NullSet,
    Rows,
    SchemaEvolutionOption,
    SinkOption,
    Truncates,
    table_options,
    whole,
)
from changewire.cli.talk import say
from changewire.cli.topics import Packages


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
    rows: Rows = None,
    schema_evolution: SchemaEvolutionOption = None,
    null_set: NullSet = None,
    apply_as_truncates: Truncates = False,
    sink: SinkOption = None,
    packages: Packages = None,
    as_json: Json = False,
) -> int:
    """Decode the dead letters of a stream again, and apply what is good by now.

    Changes have their original order, and what was applied is marked: a second replay does nothing.
    The exit code is 1 if dead letters are left.

    Example: changewire replay ops/ -f lindorm-json --target lake/ --checkpoint cp/
    """
    from changewire import stream_job
    from changewire.job import JobError

    reading = reading_of(format, image, keys, families, digests, null_value=null_value)
    tables = table_options(
        target,
        rows=rows,
        schema_evolution=schema_evolution,
        null_set=null_set,
        apply_as_truncates=apply_as_truncates,
    )
    quieten_spark()
    quieten_pyspark()
    try:
        letters, marked = stream_job.replay(
            whole(output),
            reading=reading,
            checkpoint=checkpoint,
            tables=tables or {},
            where=where,
            sink=sink or SINKS[0],
            packages=connectors(packages, [sink or SINKS[0]], as_json=as_json),
        )
    except JobError as error:
        notice("error", str(error).splitlines(), as_json=as_json)
        return UNABLE
    if as_json:
        Lines().write({"dead_letters": letters, "replayed": marked})
    else:
        say(f"{marked:,} of {letters:,} dead letters were applied")
    return GOOD if marked >= letters else REFUSED
