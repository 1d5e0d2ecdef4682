"""``changewire adopt``."""

from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated

import typer

from changewire.cli.commands.run import EngineOption
from changewire.cli.ending import VALID, ending
from changewire.cli.logs import on_log
from changewire.cli.options import Json, text_option
from changewire.cli.queries import KeyColumns, queried
from changewire.cli.stderr import say
from changewire.cli.stdout import Lines
from changewire.cli.streams import Packages, TableFormatOption
from changewire.tables.names import absolute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@ending
def adopt(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="Folder of the table; for Iceberg its name.")
    ],
    *,
    key_columns: KeyColumns = None,
    engine: EngineOption = "python",
    table_format: TableFormatOption = None,
    output: Annotated[
        str | None,
        text_option(
            "--output",
            "-o",
            metavar="DIR",
            help="For --engine spark: output folder of run or stream, with the catalog of Iceberg.",
        ),
    ] = None,
    packages: Packages = None,
    as_json: Json = False,
) -> int:
    """Assign a table to the next run or stream that feeds it.

    A table of another program needs --key-column, once for each column of its key; its rows are
    older than every change. A table of another run or stream is taken from it: stop that one
    first. Tables of Iceberg need --engine spark.

    Example: changewire adopt lake/tables/users --key-column id
    """
    keys = key_columns or None
    if engine == "spark":

        def job(spark: "SparkSession", table_format: str) -> None:
            from changewire.engines.spark.merge.adopt import adopt_table as adopt_in_spark

            adopt_in_spark(spark, absolute(table), key_columns=keys, table_format=table_format)

        on_log(
            job,
            "adoption",
            output or mkdtemp(prefix="changewire-"),
            packages,
            table_format,
            as_json=as_json,
        )
    elif table_format == "iceberg":
        raise typer.BadParameter("--table-format iceberg needs --engine spark")
    else:
        from changewire.delta import adopt_table

        queried(lambda: adopt_table(table, key_columns=keys))
    if as_json:
        Lines().write({"table": table})
    else:
        say(f"{table}: the next run or stream that feeds it takes it over")
    return VALID
