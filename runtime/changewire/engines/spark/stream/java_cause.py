"""The innermost cause of a failed batch, which Java knows and the text of its error lacks."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from changewire.engines.spark.cause import JavaCauseError, hidden_cause


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
