"""A batch that was interrupted by the end of its query, told so that Spark understands it."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_INTERRUPTION: Final = re.compile(
    r"java\.(?:lang\.Interrupted|io\.InterruptedIO|nio\.channels\.ClosedByInterrupt)Exception"
)
_TOLD: Final = "py4j.protocol.Py4JJavaError: An error occurred while calling a batch: {}"
"""What Spark looks for in the text of an exception (`StreamExecution.isInterruptionException`)."""


class InterruptedBatchError(Exception):
    """A batch did not end, because its query was stopped; the next run does it again."""


@contextmanager
def told_shortly() -> Generator[None, None, None]:
    """Tell an interruption in one line.

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
        raise InterruptedBatchError(_TOLD.format(found[0])) from None
