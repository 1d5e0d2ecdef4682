"""What Spark raises: errors of PySpark's own, and those of Java that it does not wrap."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from pyspark.errors import PySparkException


def _raised() -> tuple[type[Exception], ...]:
    """Return their classes; a client of Spark Connect need not have Py4J."""
    if find_spec("py4j") is None:
        return (PySparkException,)
    from py4j.protocol import Py4JError

    return (PySparkException, Py4JError)


RAISED: Final = _raised()
"""Classes of errors."""
