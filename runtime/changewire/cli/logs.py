"""What commands on the log of a stream share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from changewire.cli.spark import connectors, quieten_pyspark, quieten_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

LogFolder: TypeAlias = Annotated[
    str, typer.Argument(metavar="DIR", help="Output folder of run or stream.")
]

LogTarget: TypeAlias = Annotated[
    str, typer.Option("--target", metavar="TABLE", help="The tables: --target of run or stream.")
]


def on_log(
    job: Callable[[SparkSession, str], T],
    what: str,
    output: str,
    packages: str | None,
    table_format: str | None,
    *,
    as_json: bool,
) -> T:
    """Run a job in Spark, named by `what`, that gets a session and the table format.

    Raises:
        JobError: It failed.
    """
    from changewire.engines.interrupts import interruptible
    from changewire.jobs.checks import check_engine
    from changewire.jobs.topics import spark_errors

    printed = quieten_spark(output if Path(output).is_dir() else mkdtemp(prefix="changewire-"))
    quieten_pyspark()
    table_format = table_format or "delta"
    with interruptible(printed):
        found = connectors(packages, [table_format], as_json=as_json)
        check_engine("spark", [])
        from changewire.engines.spark.run import as_asked, settings
        from changewire.engines.spark.session import session

        with spark_errors(f"the {what} failed", output, {}), as_asked():
            return job(session(settings(found, table_format, output)), table_format)
