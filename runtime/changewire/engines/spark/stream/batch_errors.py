"""Errors of a batch, in the words that Spark hands on and understands."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeVar

from changewire.engines.spark.cause import JavaCauseError, full_text, hidden_cause
from changewire.engines.spark.raised import RAISED

_INTERRUPTION: Final = re.compile(
    r"java\.(?:lang\.Interrupted|io\.InterruptedIO|nio\.channels\.ClosedByInterrupt)Exception"
)
_PY4J_TEXT: Final = "py4j.protocol.Py4JJavaError: An error occurred while calling a batch: {}"
"""What ``StreamExecution.isInterruptionException`` of Spark looks for in a text of an error."""

_LOST: Final = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
"""Spark's error condition for rows of `DataFrame.localCheckpoint` whose executor is gone."""

_TRIES: Final = 4
"""How often a batch is tried, as Spark does with a task (``spark.task.maxFailures``)."""

_Result = TypeVar("_Result")


class InterruptedBatchError(Exception):
    """A batch did not end, because its query was stopped; the next run retries it."""


@contextmanager
def short_interruption() -> Generator[None, None, None]:
    """Report an interruption in one line.

    Spark finds it in the text of a Python exception by a regular expression, whose stack overflows
    on a text as long as Java's own trace (4.0.1): then a stopped query ends as if it had failed.

    Raises:
        InterruptedBatchError: In place of the exception that holds an interruption.
    """
    try:
        yield
    except Exception as error:
        found = _INTERRUPTION.search(str(error))
        if found is None:
            raise
        raise InterruptedBatchError(_PY4J_TEXT.format(found[0])) from None


@contextmanager
def java_cause_named() -> Generator[None, None, None]:
    """Name Java's innermost cause in the text of an error.

    Spark hands on the text of a Python exception alone, and PySpark leaves the causes of an
    exception of Java out of its text.

    Raises:
        JavaCauseError: In place of an error whose text lacks the cause.
    """
    try:
        yield
    except Exception as error:
        cause = hidden_cause(error)
        if not cause:
            raise
        raise JavaCauseError(cause) from error


def repeated_if_lost(write: Callable[[], _Result]) -> _Result:
    """Write a batch, and write it again if an executor took rows with it that Spark kept there.

    Spark computes all other rows of a lost executor again by itself, but not those of a local
    checkpoint: https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.localCheckpoint.html

    Args:
        write: Writes the batch; a retry changes nothing.
    """
    for _ in range(_TRIES - 1):
        try:
            return write()
        except RAISED as error:  # noqa: PERF203 - there are few tries
            if _LOST not in full_text(error):
                raise
    return write()
