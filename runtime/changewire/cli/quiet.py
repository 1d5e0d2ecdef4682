"""Spark, kept from talking on standard error while the command line runs it."""

from __future__ import annotations

import os
from importlib.resources import files


def quieten_spark() -> None:
    """Let a Spark that is started later log fatal errors only.

    Who has a configuration of their own, by ``SPARK_SUBMIT_OPTS`` or ``SPARK_CONF_DIR``, keeps it.
    """
    if "SPARK_SUBMIT_OPTS" in os.environ or "SPARK_CONF_DIR" in os.environ:
        return
    settings = files("changewire.cli").joinpath("log4j2.properties")
    os.environ["SPARK_SUBMIT_OPTS"] = f'"-Dlog4j2.configurationFile=file:{settings}"'
