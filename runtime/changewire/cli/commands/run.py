"""``changewire run``."""

from functools import partial
from typing import Annotated, Any, TypeAlias

import typer

from changewire.cli.arguments import TableArguments, row_schema_of
from changewire.cli.config import Config
from changewire.cli.ending import ending
from changewire.cli.options import (
    ElementsAsOption,
    Inputs,
    Json,
    Keys,
    RowImageOption,
    Shape,
    StripRegistryPrefix,
    TombstonesOption,
    TopicFormat,
    choice_option,
    decode_options_of,
    with_vendor_options,
)
from changewire.cli.runs import FailOn, land_files, run_job
from changewire.cli.streams import (
    DefaultTable,
    DeletesOption,
    MaxDeadLetters,
    MaxNewTables,
    NumbersOption,
    Output,
    RowSchemaOption,
    SchemaEvolutionOption,
    ShowValues,
    Target,
    Truncates,
)
from changewire.engines.options import ENGINES

EngineOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--engine",
        of=ENGINES,
        metavar="ENGINE",
        help="Engine to use: {}. auto is spark if it can run; tables are merged by python.",
    ),
]


@ending
@with_vendor_options
def run(
    inputs: Inputs = None,
    *,
    format: TopicFormat,
    output: Output,
    elements_as: ElementsAsOption = "changes",
    engine: EngineOption = "auto",
    row_image: RowImageOption = "full",
    key_columns: Keys = None,
    tombstones: TombstonesOption = "ignore",
    strip_registry_prefix: StripRegistryPrefix = False,
    shape: Shape = "auto",
    show_values: ShowValues = False,
    max_dead_letters: MaxDeadLetters = None,
    target: Target = None,
    row_schema: RowSchemaOption = None,
    schema_evolution: SchemaEvolutionOption = None,
    numbers: NumbersOption = None,
    deletes: DeletesOption = None,
    default_table: DefaultTable = None,
    apply_truncates: Truncates = False,
    max_new_tables: MaxNewTables = None,
    fail_on: FailOn = "never",
    config: Config = None,
    as_json: Json = False,
    **vendor: Any,
) -> int:
    """Land files in a log of changes, control events and dead letters, and write a report.

    The log is DIR/log; the report is DIR/report.html, for programs DIR/report.json. Messages that
    the log has already are left out, so a run that was stopped can be run again. With --target,
    changes are also merged into Delta tables.

    Example: changewire run -f aerospike-json topic/ --output lake/
    """
    del config  # it gave the other options their values
    decode_options = decode_options_of(
        format,
        row_image=row_image,
        key_columns=key_columns,
        tombstones=tombstones,
        strip_registry_prefix=strip_registry_prefix,
        elements_as=elements_as,
        **vendor,
    )
    given = TableArguments(
        row_schema=row_schema,
        schema_evolution=schema_evolution,
        numbers=numbers,
        deletes=deletes,
        default_table=default_table,
        apply_truncates=apply_truncates,
        max_new_tables=max_new_tables,
        max_dead_letters=max_dead_letters,
    )
    tables = given.merged(target, elements_as)
    if tables is not None and engine == "spark":
        raise typer.BadParameter("--engine spark lands files; --target merges them by python")
    job = partial(
        land_files,
        inputs,
        output,
        decode_options,
        tables=tables,
        row_schema=row_schema_of(row_schema),
        engine=engine,
        shape=shape,
        show_values=show_values,
        as_json=as_json,
    )
    return run_job(job, fail_on, as_json=as_json)
