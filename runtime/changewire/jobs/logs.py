"""Sessions of Spark for jobs on the log of a stream and its tables."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from changewire.jobs.checks import choose_engine
from changewire.jobs.topics import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def log_session(
    what: str, output: str, table_format: str, packages: str | None
) -> Generator[SparkSession, None, None]:
    """Give a session for a log in an output folder; what fails with it becomes a `JobError`."""
    choose_engine("spark", [])
    from changewire.engines.spark.run import settings
    from changewire.engines.spark.session import session

    with spark_errors(f"the {what} failed", output, {}):
        yield session(settings(packages, table_format, output))
