"""Spark, kept from talking on standard error while the command line runs it."""

from __future__ import annotations

import logging
import os
from importlib.resources import files
from importlib.util import find_spec
from typing import Final

_WITH_VALUES: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Loggers by which PySpark writes errors of a query to standard error, with values of rows."""


def quieten_spark() -> None:
    """Let a Spark that is started later log fatal errors only.

    Who has a configuration of their own, by ``SPARK_SUBMIT_OPTS`` or ``SPARK_CONF_DIR``, keeps it.
    """
    if "SPARK_SUBMIT_OPTS" in os.environ or "SPARK_CONF_DIR" in os.environ:
        return
    settings = files("changewire.cli").joinpath("log4j2.properties")
    os.environ["SPARK_SUBMIT_OPTS"] = f'"-Dlog4j2.configurationFile=file:{settings}"'


def quieten_pyspark() -> None:
    """Let PySpark write no errors of queries: they are raised, and our own words have no values."""
    if find_spec("pyspark") is None:
        return
    from pyspark.logger import PySparkLogger

    for name in _WITH_VALUES:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
