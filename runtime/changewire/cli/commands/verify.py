"""``changewire verify``."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from changewire.cli.arguments import checkpoint_of, whole
from changewire.cli.ending import REJECTED, VALID, ending
from changewire.cli.logs import (
    LogEngine,
    LogFolder,
    LogTarget,
    is_local,
    on_log,
    say_unapplied,
)
from changewire.cli.options import Json, with_flags
from changewire.cli.queries import queried
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import Lines
from changewire.cli.streams import (
    CHANGES_FLAGS,
    TABLE_FLAGS,
    Checkpoint,
    Packages,
    TableFormatOption,
)
from changewire.engines.options import log_of
from changewire.tables.names import absolute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@ending
@with_flags("target", {**CHANGES_FLAGS, "deletes": TABLE_FLAGS["deletes"]})
def verify(
    output: LogFolder,
    *,
    target: LogTarget,
    engine: LogEngine = None,
    checkpoint: Checkpoint = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Stop after so many rows."),
    ] = None,
    table_format: TableFormatOption = None,
    packages: Packages = None,
    as_json: Json = False,
    **flags: Any,
) -> int:
    """Compare tables with their log, and write each row that differs as a line of JSON.

    A line has the table, the fault (missing, extra or different), the key, the row by the log and
    the row of the table, and the position of the change that the row should be from. The
    part of the log that was merged is compared. The number of changes that are refused or have no
    key is reported. The exit code is 1 if a row differs.

    Example: changewire verify lake/ --target lake/tables/{database}/{table}
    """
    folder = whole(output)
    chosen: Any = {name: flags[name] or None for name in ("only_tables", "except_tables")}
    options: dict[str, Any] = {"target": absolute(target, is_template=True), **flags, **chosen}

    def job(spark: "SparkSession", table_format: str) -> tuple[int, list[Any]]:
        from changewire.engines.spark.log.rows import unapplied
        from changewire.engines.spark.merge.verify import verify as faults_of

        log = log_of(folder, table_format)
        default = checkpoint_of(None, folder)
        progress = checkpoint or (default if Path(default).is_dir() else None)
        how: dict[str, Any] = {**options, "table_format": table_format, "checkpoint": progress}
        faults = faults_of(spark, log, **how)
        number = _shown((row.asDict() for row in faults.toLocalIterator()), limit)
        how = {"target": options["target"], **chosen}
        found = unapplied(spark, log, table_format=table_format, **how)
        return number, [row.asDict() for row in found.orderBy("table").collect()]

    of_spark = {"table_format": table_format, "packages": packages, "checkpoint": checkpoint}
    if is_local(engine, folder, target, **of_spark):
        number, lost = _without_spark(log_of(folder, "delta"), options, chosen, limit)
    else:
        number, lost = on_log(job, "comparison", folder, packages, table_format, as_json=as_json)
    text = f"{counted(number, 'row')} of the tables {'differs' if number == 1 else 'differ'}"
    notice("totals", text, {"different": number}, as_json=as_json)
    say_unapplied(lost, as_json=as_json)
    return REJECTED if number else VALID


def _without_spark(
    log: str, options: dict[str, Any], chosen: dict[str, Any], limit: int | None
) -> tuple[int, list[Any]]:
    """Write rows that differ; return their number, and the changes that are in no table."""
    from changewire.delta import verify as faults_of
    from changewire.engines.arrow.queries import unapplied

    found = queried(lambda: faults_of(log, **options))
    batches = found.to_batches(max_chunksize=1024)
    number = _shown((row for batch in batches for row in batch.to_pylist()), limit)
    return number, unapplied(log, target=options["target"], **chosen).to_pylist()


def _shown(faults: Iterable[dict[str, Any]], limit: int | None) -> int:
    """Write rows that differ, as many as are asked for; return how many."""
    lines, number = Lines(), 0
    for number, fault in enumerate(faults, 1):
        lines.write(fault)
        if number == limit:
            break
    return number
