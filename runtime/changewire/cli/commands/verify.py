"""``changewire verify``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from changewire.cli.arguments import whole
from changewire.cli.ending import REJECTED, VALID, ending
from changewire.cli.logs import LogFolder, LogTarget, on_log
from changewire.cli.options import Json
from changewire.cli.stderr import counted, say
from changewire.cli.stdout import Lines
from changewire.cli.streams import (
    DefaultTable,
    DeletesOption,
    OneTable,
    Packages,
    TableFormatOption,
    Truncates,
)
from changewire.engines.options import log_of
from changewire.tables.names import absolute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@ending
def verify(
    output: LogFolder,
    *,
    target: LogTarget,
    default_table: DefaultTable = None,
    apply_truncates: Truncates = False,
    one_table: OneTable = False,
    deletes: DeletesOption = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Stop after so many rows."),
    ] = None,
    table_format: TableFormatOption = None,
    packages: Packages = None,
    as_json: Json = False,
) -> int:
    """Compare tables with their log, and write each row that differs as a line of JSON.

    A line has the table, the fault (missing, extra or different), the key, the row that the log
    says and the row of the table, and the position of the change that the row should be from. The
    exit code is 1 if a row differs.

    Example: changewire verify lake/ --target lake/tables/{database}/{table}
    """

    def show(faults: Iterator[dict[str, Any]]) -> int:
        lines, number = Lines(), 0
        for number, fault in enumerate(faults, 1):
            lines.write(fault)
            if number == limit:
                break
        return number

    def job(spark: "SparkSession", table_format: str) -> int:
        from changewire.engines.spark.merge.verify import verify as faults_of

        faults = faults_of(
            spark,
            log_of(folder, table_format),
            target=absolute(target, is_template=True),
            table_format=table_format,
            default_table=default_table,
            apply_truncates=apply_truncates,
            one_table=one_table,
            deletes=deletes or "remove",
        )
        return show(row.asDict() for row in faults.toLocalIterator())

    folder = whole(output)
    number = on_log(job, "comparison", folder, packages, table_format, as_json=as_json)
    say(f"{counted(number, 'row')} of the tables {'differs' if number == 1 else 'differ'}")
    return REJECTED if number else VALID
