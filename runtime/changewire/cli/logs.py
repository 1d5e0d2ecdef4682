"""What commands on the log of a stream share."""

from collections.abc import Callable
from typing import Annotated, TypeAlias, TypeVar

import typer

from changewire.cli.spark import connectors, quieten_pyspark, quieten_spark
from changewire.cli.stderr import notice

T = TypeVar("T")

LogFolder: TypeAlias = Annotated[
    str, typer.Argument(metavar="DIR", help="Folder of the log: --output of run.")
]

LogTarget: TypeAlias = Annotated[
    str, typer.Option("--target", metavar="TABLE", help="The tables that run fed: its --target.")
]


def on_log(
    job: Callable[[str | None], T], packages: str | None, table_format: str | None, *, as_json: bool
) -> T | None:
    """Run a job in Spark that gets the connectors; None if it failed, which is said then."""
    from changewire.engines.interrupts import interruptible
    from changewire.jobs.checks import JobError

    quieten_spark()
    quieten_pyspark()
    try:
        with interruptible():
            return job(connectors(packages, [table_format or "delta"], as_json=as_json))
    except JobError as error:
        notice("error", str(error).splitlines(), as_json=as_json)
        return None
