"""``changewire replay``."""

from typing import TYPE_CHECKING, Annotated, Any

from changewire.cli.arguments import (
    TableArguments,
    checkpoint_of,
    stream_options,
    whole,
)
from changewire.cli.ending import REJECTED, UNABLE, VALID, ending
from changewire.cli.logs import LogFolder, LogTarget, on_log
from changewire.cli.options import (
    Json,
    Keys,
    RowImageOption,
    StripRegistryPrefix,
    TombstonesOption,
    TopicFormat,
    decode_options_of,
    text_option,
    with_vendor_options,
)
from changewire.cli.stderr import say
from changewire.cli.stdout import Lines
from changewire.cli.streams import (
    Checkpoint,
    DefaultTable,
    DeletesOption,
    NumbersOption,
    Packages,
    RowSchemaOption,
    SchemaEvolutionOption,
    TableFormatOption,
    Truncates,
)

if TYPE_CHECKING:
    from changewire.engines.spark.merge.replay import Replayed


@ending
@with_vendor_options
def replay(
    output: LogFolder,
    *,
    format: TopicFormat,
    target: LogTarget,
    checkpoint: Checkpoint = None,
    where: Annotated[
        str | None,
        text_option(
            metavar="SQL",
            help="Condition on dead letters and refused changes, such as code = 'unknown-variant'.",
        ),
    ] = None,
    row_image: RowImageOption = "full",
    key_columns: Keys = None,
    tombstones: TombstonesOption = "ignore",
    strip_registry_prefix: StripRegistryPrefix = False,
    row_schema: RowSchemaOption = None,
    schema_evolution: SchemaEvolutionOption = None,
    numbers: NumbersOption = None,
    deletes: DeletesOption = None,
    default_table: DefaultTable = None,
    apply_truncates: Truncates = False,
    table_format: TableFormatOption = None,
    packages: Packages = None,
    as_json: Json = False,
    **vendor: Any,
) -> int:
    """Decode the dead letters of a stream's log again, and apply refused changes again.

    Changes have their original order. What is valid now is appended to the log, which closes its
    dead letter: a second replay does nothing. The exit code is 1 if some are left.

    Example: changewire replay lake/ -f auto --target lake/tables/
    """
    from changewire.jobs.logs import replay_log

    decode_options = decode_options_of(
        format,
        row_image=row_image,
        key_columns=key_columns,
        tombstones=tombstones,
        strip_registry_prefix=strip_registry_prefix,
        **vendor,
    )
    tables = TableArguments(
        row_schema=row_schema,
        schema_evolution=schema_evolution,
        numbers=numbers,
        deletes=deletes,
        default_table=default_table,
        apply_truncates=apply_truncates,
    ).options(target)
    folder = whole(output)
    stream = stream_options(folder, checkpoint_of(checkpoint, folder), table_format)

    def job(packages: str | None) -> "Replayed":
        return replay_log(folder, decode_options, stream, tables, where=where, packages=packages)

    done = on_log(job, packages, table_format, as_json=as_json)
    if done is None:
        return UNABLE
    found = done.dead_letters + done.refused
    if as_json:
        Lines().write({**done._asdict(), "tables": dict(done.tables)})
    else:
        say(
            f"{max(found - done.left, 0):,} of {found:,} are valid now: "
            f"{done.dead_letters:,} dead letters and "
            f"{done.refused:,} refused changes were tried"
        )
    return REJECTED if done.left else VALID
