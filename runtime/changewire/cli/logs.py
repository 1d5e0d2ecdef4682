"""What commands on the log of a stream share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from changewire.cli.options import choice_option, text_option
from changewire.cli.queries import bounded, queried
from changewire.cli.spark import connectors, quieten_pyspark, quieten_spark
from changewire.cli.stderr import counted, notice
from changewire.engines.errors import OutputError
from changewire.engines.options import ENGINES, log_of
from changewire.tables.names import template_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

LogFolder: TypeAlias = Annotated[
    str, typer.Argument(metavar="DIR", help="Output folder of run or stream.")
]

LogTarget: TypeAlias = Annotated[
    str, text_option("--target", metavar="TABLE", help="The tables: --target of run or stream.")
]

LogEngine: TypeAlias = Annotated[
    str | None,
    choice_option(
        "--engine",
        of=ENGINES,
        metavar="ENGINE",
        help="Engine to use: {}; by default python for tables that a run without Spark made.",
        show_default=False,
    ),
]


def is_local(engine: str | None, folder: str, target: str, **of_spark: str | None) -> bool:
    """Whether a job on the log of a folder runs without Spark: as asked, or as tables were made.

    `of_spark` are options that only Spark has.

    Raises:
        typer.BadParameter: The target is not valid, or one of them is given for the other engine.
        OutputError: No engine is asked for, and the log does not exist.
    """
    queried(lambda: template_of(target))
    given = [name for name, value in of_spark.items() if value not in {None, "delta"}]
    if engine == "python" and given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise typer.BadParameter(f"{flags}: only with --engine spark")
    if engine is not None or given:
        return engine == "python"
    log = log_of(folder, "delta")
    if "://" in log or log.startswith("file:"):
        return False
    if not Path(log).is_dir():
        raise OutputError(f"{log}: the log does not exist (--engine spark looks where Spark does)")
    try:
        from changewire.engines.merge.log import has_tables
    except ImportError:
        return False
    return has_tables(log, target)


def say_unapplied(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Say how many changes of which tables are in no table; rows are those of `unapplied`."""
    if not rows:
        return
    numbers = {name: sum(row[name] for row in rows) for name in ("refused", "key_missing")}
    parts = [
        counted(numbers["refused"], "refused change"),
        counted(numbers["key_missing"], "change without a key", "changes without a key"),
    ]
    said = ", ".join(part for part, number in zip(parts, numbers.values(), strict=True) if number)
    text = f"in no table: {said} ({bounded(sorted(row['table'] for row in rows))})"
    notice("loss", text, {"unapplied": [*rows]}, as_json=as_json)


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
