"""Waiting for a query to end: by itself, by a signal, or by a failure told in a sentence."""

from __future__ import annotations

import re
import signal
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.counts import ConservationError
from changewire.engines.spark.stream.errors import (
    ConflictError,
    KeysMissingError,
    TooManyDeadLettersError,
)

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_SECONDS: Final = 1
_OURS: Final[dict[str, type[Exception]]] = {
    error.__name__: error
    for error in (ConservationError, ConflictError, KeysMissingError, TooManyDeadLettersError)
}
_TOLD: Final = re.compile(rf"\b({'|'.join(_OURS)}): ([^\n]*)")


def await_end(query: StreamingQuery) -> None:
    """Wait until a query ends. SIGINT and SIGTERM end it after the batch that it is at.

    Call it in the main thread: Python hears signals nowhere else.

    Raises:
        StreamError: A batch has too many dead letters.
        ConservationError: The decoded rows of a batch do not add up.
        StreamingQueryException: Whatever else made the query fail.
    """
    with _signalled() as asked:
        try:
            _wait(query, asked)
        except StreamingQueryException as error:
            # Spark hands on no exception of a batch, only its traceback as text.
            found = _TOLD.search(str(error))
            if found is None:
                raise
            raise _OURS[found[1]](found[2]) from error


def _wait(query: StreamingQuery, asked: Event) -> None:
    at: int | None = None
    while not query.awaitTermination(_SECONDS):
        if not asked.is_set():
            at = _last_batch(query)
        elif not query.status["isTriggerActive"] or _last_batch(query) != at:
            query.stop()  # a batch that has just begun is done again by the next run


def _last_batch(query: StreamingQuery) -> int | None:
    progress = query.lastProgress
    return None if progress is None else progress["batchId"]


@contextmanager
def _signalled() -> Generator[Event, None, None]:
    """Give an event that a signal sets, in place of what signals do otherwise."""
    asked = Event()

    def hear(number: int, frame: FrameType | None) -> None:
        del number, frame
        asked.set()

    before = {number: signal.signal(number, hear) for number in _SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
