"""``changewire apply``."""

from typing import TYPE_CHECKING, Any

import typer

from changewire.cli.arguments import checkpoint_of, table_options, whole
from changewire.cli.commands.run import EngineOption
from changewire.cli.ending import REJECTED, ending
from changewire.cli.fail_on import ALL, FailOn, exit_code, say_losses
from changewire.cli.logs import LogFolder, LogTarget, on_log
from changewire.cli.options import Json, with_flags
from changewire.cli.queries import queried
from changewire.cli.stderr import say
from changewire.cli.stdout import Lines
from changewire.cli.streams import TABLE_FLAGS, Checkpoint, Packages, TableFormatOption
from changewire.engines.options import log_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from changewire.engines.by_table import Applied


@ending
@with_flags("engine", TABLE_FLAGS)
def apply(
    output: LogFolder,
    *,
    target: LogTarget,
    engine: EngineOption = "python",
    checkpoint: Checkpoint = None,
    table_format: TableFormatOption = None,
    packages: Packages = None,
    fail_on: FailOn = ALL,
    as_json: Json = False,
    **flags: Any,
) -> int:
    """Merge a log into tables: the changes that they lack.

    The log may be that of run or stream, with or without tables. A new target gets the whole log.
    Tables of stream, and of run with --engine spark, belong to a checkpoint: they need --engine
    spark, and so do Iceberg and --view.

    Example: changewire apply lake/ --target lake/tables/{database}/{table}
    """
    folder, tables = whole(output), table_options(target, flags)
    if engine == "spark":
        place = checkpoint_of(checkpoint, folder)

        def job(spark: "SparkSession", table_format: str) -> "Applied":
            from changewire.engines.spark.log.place import LogPlace
            from changewire.engines.spark.run import run_log

            log = LogPlace(log_of(folder, table_format), table_format)
            return run_log(spark, log, tables, place)

        applied = on_log(job, "merge", folder, packages, table_format, as_json=as_json)
    elif checkpoint is not None or table_format == "iceberg":
        raise typer.BadParameter("--checkpoint and --table-format iceberg need --engine spark")
    else:
        from changewire.engines.merge.apply import applied_log

        applied = queried(lambda: applied_log(log_of(folder, "delta"), tables))
    return _said(applied, folder, fail_on, as_json=as_json)


def _said(applied: "Applied", folder: str, fail_on: str, *, as_json: bool) -> int:
    """Say what became of changes, and return the exit code."""
    from changewire.engines.counts import Counts
    from changewire.engines.outcome import Outcome
    from changewire.report.write import next_command

    outcome = Outcome(
        counts=Counts(),
        format="",
        inputs=[],
        output=folder,
        engine="",
        seconds=0,
        first_dead_letters=[],
        tables=applied.counts,
        changes_by_table=applied.by_table,
        unmatched=applied.unmatched,
    )
    code = exit_code(outcome, fail_on, is_continuous=False)
    if as_json:
        Lines().write({"tables": dict(applied.counts)})
    else:
        did = ", ".join(f"{name} {number:,}" for name, number in applied.counts.items())
        say(f"in tables: {did or 'nothing'}")
    say_losses(outcome, next_command(outcome), is_failure=code == REJECTED, as_json=as_json)
    return code
