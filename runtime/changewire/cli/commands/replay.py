"""``changewire replay``."""

from typing import TYPE_CHECKING, Annotated

from changewire.cli.arguments import (
    StreamArguments,
    TableArguments,
    checkpoint_of,
    stream_options,
    whole,
)
from changewire.cli.ending import REJECTED, UNABLE, VALID, ending
from changewire.cli.logs import LogFolder, LogTarget, on_log
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
from changewire.cli.stderr import say
from changewire.cli.stdout import Lines
from changewire.cli.streams import (
    Checkpoint,
    DefaultTable,
    DeletesOption,
    NumbersOption,
    Packages,
    Rows,
    RowsByTable,
    SchemaEvolutionOption,
    SinkOption,
    Truncates,
)

if TYPE_CHECKING:
    from changewire.engines.spark.merge.replay import Replayed


@ending
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
    image: ImageOption = "full",
    keys: Keys = None,
    families: Families = None,
    digests: DigestsOption = "off",
    null_value: NullValueOption = "control",
    time_zone: TimeZone = "UTC",
    strip_registry_prefix: StripRegistryPrefix = False,
    rows: Rows = None,
    rows_by_table: RowsByTable = None,
    schema_evolution: SchemaEvolutionOption = None,
    numbers: NumbersOption = None,
    deletes: DeletesOption = None,
    default_table: DefaultTable = None,
    apply_truncates: Truncates = False,
    sink: SinkOption = None,
    packages: Packages = None,
    as_json: Json = False,
) -> int:
    """Decode the dead letters of a stream's log again, and apply refused changes again.

    Changes have their original order. What is valid now is appended to the log, which closes its
    dead letter: a second replay does nothing. The exit code is 1 if some are left.

    Example: changewire replay lake/ -f auto --target lake/tables/
    """
    from changewire.jobs.logs import replay_log

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
        rows,
        rows_by_table,
        schema_evolution,
        numbers,
        deletes,
        None,
        default_table,
        apply_truncates,
    ).options(target)
    folder = whole(output)
    stream = stream_options(StreamArguments(checkpoint_of(checkpoint, folder), sink), folder)

    def job(packages: str | None) -> "Replayed":
        return replay_log(folder, decode_options, stream, tables, where=where, packages=packages)

    done = on_log(job, packages, sink, as_json=as_json)
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
