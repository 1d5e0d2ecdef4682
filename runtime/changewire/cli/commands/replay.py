"""``changewire replay``."""

from typing import TYPE_CHECKING, Annotated, Any

from changewire.changes.decode_options import DecodeOptions
from changewire.cli.arguments import checkpoint_of, stream_options, table_options, whole
from changewire.cli.ending import REJECTED, VALID, ending
from changewire.cli.logs import LogEngine, LogFolder, LogTarget, is_local, on_log
from changewire.cli.options import (
    DECODE_FLAGS,
    Json,
    TopicFormat,
    decode_options_of,
    text_option,
    with_flags,
)
from changewire.cli.queries import queried
from changewire.cli.stderr import say
from changewire.cli.stdout import Lines
from changewire.cli.streams import Checkpoint, Packages, TableFormatOption, table_flags
from changewire.engines.options import TableOptions, log_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from changewire.engines.applied import Replayed


@ending
@with_flags("engine", DECODE_FLAGS)
@with_flags("engine", table_flags("view", "max_new_tables"))
def replay(
    output: LogFolder,
    *,
    format: TopicFormat,
    target: LogTarget,
    engine: LogEngine = None,
    checkpoint: Checkpoint = None,
    where: Annotated[
        str | None,
        text_option(
            metavar="SQL",
            help="Condition on dead letters, refused changes and changes without a key, such as "
            "code = 'unknown-variant'.",
        ),
    ] = None,
    table_format: TableFormatOption = None,
    packages: Packages = None,
    as_json: Json = False,
    **flags: Any,
) -> int:
    """Decode the dead letters of a log again, and apply refused changes again.

    Changes without a key get one if --key-column names its columns. Elements that are valid now are
    appended to the log, which closes their dead letters, and merged into the tables in their
    original order. The exit code is 1 if some are still open.

    Example: changewire replay lake/ -f auto --target lake/tables/{table}
    """
    tables = table_options(target, flags)
    decode_options = decode_options_of(format, flags, tables=tables)
    folder = whole(output)
    of_spark = {"table_format": table_format, "packages": packages, "checkpoint": checkpoint}
    if is_local(engine, folder, target, **of_spark):
        done = queried(
            lambda: _without_spark(log_of(folder, "delta"), decode_options, tables, where)
        )
    else:
        stream = stream_options(folder, checkpoint_of(checkpoint, folder), table_format)

        def job(spark: "SparkSession", table_format: str) -> "Replayed":
            from changewire.engines.decode import Decoder
            from changewire.engines.spark.log.place import LogPlace
            from changewire.engines.spark.merge.options import apply_options
            from changewire.engines.spark.merge.replay import replayed

            place = LogPlace(stream.log, table_format)
            how = apply_options(decode_options, tables, log=place, checkpoint=stream.checkpoint)
            return replayed(spark, how, Decoder(decode_options), where)

        done = on_log(job, "replay", folder, packages, table_format, as_json=as_json)
    if as_json:
        Lines().write({**done._asdict(), "tables": dict(done.tables)})
    else:
        say(_summary(done))
    return REJECTED if done.left else VALID


def _summary(done: "Replayed") -> str:
    """Return what became of the elements that were tried, as one sentence."""
    found = done.dead_letters + done.refused + done.key_missing
    keyed = f"{done.key_missing:,} changes got a key, " if done.key_missing else ""
    return (
        f"{max(found - done.left, 0):,} of {found:,} are valid now: {done.dead_letters:,} dead "
        f"letters and {done.refused:,} refused changes were tried, "
        f"{keyed}{done.left:,} are still open"
    )


def _without_spark(
    log: str, decode_options: DecodeOptions, tables: TableOptions, where: str | None
) -> "Replayed":
    from changewire.engines.decode import Decoder
    from changewire.engines.merge.options import local_options
    from changewire.engines.merge.replay import replayed

    return replayed(local_options(decode_options, tables, log=log), Decoder(decode_options), where)
