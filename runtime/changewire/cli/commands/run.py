"""``changewire run``."""

from functools import partial
from typing import Annotated, Any, TypeAlias

import typer

from changewire.cli.arguments import limit_of, merged_tables, row_schema_of
from changewire.cli.config import Config
from changewire.cli.ending import ending
from changewire.cli.fail_on import ALL, FailOn
from changewire.cli.options import (
    DECODE_FLAGS,
    ElementsAsOption,
    Inputs,
    Json,
    Shape,
    TopicFormat,
    choice_option,
    decode_options_of,
    with_flags,
)
from changewire.cli.runs import land_files, run_job
from changewire.cli.streams import MaxDeadLetters, Output, ShowValues, Target, table_flags
from changewire.engines.options import ENGINES, FileRun

EngineOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--engine",
        of=ENGINES,
        metavar="ENGINE",
        help="Engine to use: {}.",
    ),
]


@ending
@with_flags("engine", DECODE_FLAGS)
@with_flags("target", table_flags("view"))
def run(
    inputs: Inputs = None,
    *,
    format: TopicFormat,
    output: Output,
    elements_as: ElementsAsOption = "changes",
    engine: EngineOption = "python",
    shape: Shape = "auto",
    show_values: ShowValues = False,
    max_dead_letters: MaxDeadLetters = None,
    target: Target = None,
    fail_on: FailOn = ALL,
    config: Config = None,
    as_json: Json = False,
    **flags: Any,
) -> int:
    """Append files to a log of changes, control events and dead letters, and write a report.

    The log is DIR/log; the report is DIR/report.html, for programs DIR/report.json. Messages that
    are in the log already are skipped, so a run that was stopped can be run again. With --target,
    changes are also merged into Delta tables; --engine spark does this in Spark.

    Example: changewire run -f aerospike-json topic/ --output lake/
    """
    del config  # it gave the other options their values
    tables = merged_tables(target, flags, elements_as, max_dead_letters)
    decode_options = decode_options_of(format, flags, tables=tables, elements_as=elements_as)
    try:
        asked = FileRun(
            decode_options,
            tables,
            row_schema=row_schema_of(flags["row_schema"], "json") if tables is None else "json",
            engine=engine,
            shape=shape,
            show_values=show_values,
            max_dead_letters=limit_of(max_dead_letters),
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    job = partial(land_files, inputs, output, asked, as_json=as_json)
    return run_job(job, output, fail_on, as_json=as_json)
