"""The Python of Spark's workers, which must have what this one has."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from changewire.engines.errors import StreamError
from changewire.engines.spark.session import is_remote

_SECONDS: Final = 60
_PROGRAM: Final = "import sys, changewire; print(*sys.version_info[:2], sep='.')"


def check_python(spark: SparkSession) -> None:
    """Refuse a session on this machine whose workers run a Python that lacks changewire.

    Spark would report a missing module, in a traceback. Machines of a cluster are not looked at,
    and no session is refused that sends files to its workers.

    Raises:
        StreamError: The Python lacks changewire, or has another version.
    """
    if is_remote(spark):
        return
    context: Any = spark.sparkContext
    if context._python_includes or not str(context.master).startswith("local"):  # noqa: SLF001
        return
    fault = _fault(str(context.pythonExec))
    if fault is not None and not context.getConf().get("spark.archives"):
        raise StreamError(f"{fault}; {advice()}")


def advice() -> str:
    """Return what makes workers run this Python."""
    return f"set PYSPARK_PYTHON to {sys.executable} before the session starts"


@cache
def _fault(python: str) -> str | None:
    """Return in words what is wrong with a Python of workers; None if nothing is."""
    place = shutil.which(python)
    if place is None:
        return f"the workers of this session run {python}, which does not exist"
    if Path(place).parent == Path(sys.executable).parent:
        return None
    runs = f"the workers of this session run {place}"
    try:
        done = subprocess.run(  # noqa: S603 - the very program that Spark starts
            [place, "-c", _PROGRAM], capture_output=True, check=False, timeout=_SECONDS, text=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{runs}, which does not start: {type(error).__name__}"
    if done.returncode:
        return f"{runs}, which lacks changewire or a library that it needs"
    version, own = done.stdout.strip(), ".".join(map(str, sys.version_info[:2]))
    return None if version == own else f"{runs}, which is Python {version} and not {own}"
