"""Waiting for a query to end: by itself, by a signal, or by a failure, described in a sentence."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.batch_lines import BatchProgress
from changewire.engines.counts import ConservationError
from changewire.engines.errors import OutputError, StreamError
from changewire.engines.signals import signalled
from changewire.engines.spark.cause import GONE, full_text, innermost
from changewire.engines.spark.jvm import last_progress
from changewire.engines.spark.stream.progress import batch_id, check, committed
from changewire.engines.spark.stream.queries import TableQueries

ProgressListener = Callable[[BatchProgress], None]
"""Called with what is known of a committed batch."""

_SECONDS: Final = 1
_LEFT_BEHIND: Final = (
    "VACUUM or the retention of a table removed files that the query had not read. If the table is "
    "the log of `apply_log` or `apply_changes`: run `rebuild`, then delete the folder `tables` of "
    "the checkpoint; the next start applies all rows that the log has"
)
_OWN: Final[tuple[type[Exception], ...]] = (ConservationError, *StreamError.__subclasses__())
_OWN_ERRORS: Final = {error.__name__: error for error in _OWN}


def await_termination(
    query: StreamingQuery | TableQueries, *, progress: ProgressListener | None = None
) -> signal.Signals | None:
    """Wait until a query ends. SIGINT and SIGTERM end it after the batch that it is at.

    For each committed batch, the numbers of delivered and of decoded messages are compared. If one
    of the two queries of `apply_changes` fails, the other one ends after the batch that it is at.
    Call it in the main thread: Python handles signals nowhere else.

    Args:
        query: From `land`, `apply_changes` or `apply_log`.
        progress: Called for each batch of messages that is committed, at most a second later; what
            it raises ends the query.

    Returns:
        The signal that ended the query; None if it ended by itself.

    Raises:
        StreamError: A batch has too many dead letters.
        OutputError: The log no longer has files that the query has not read.
        ConservationError: The decoded rows of a batch do not add up, or are fewer or more than the
            source delivered.
        StreamingQueryException: Whatever else made the query fail. Its text begins with the
            innermost cause, in which values are hidden; its ``__cause__`` is Spark's own error.
    """
    with signalled() as received:
        try:
            if isinstance(query, TableQueries):
                _wait_for_both(query, received, progress)
            else:
                _wait_for(query, lambda: bool(received), progress)
        finally:
            query.stop()
    return received[0] if received else None


def _wait_for_both(
    queries: TableQueries, received: list[signal.Signals], progress: ProgressListener | None
) -> None:
    applying = queries.apply
    try:
        _wait_for(
            queries.land,
            lambda: bool(received) or (applying is not None and not applying.isActive),
            progress,
        )
    finally:
        if applying is not None:  # it runs beside the first query, and is never ended by itself
            _wait_for(applying, lambda: True)
    if applying is None and not received:
        _wait_for(queries.applying(), lambda: bool(received))


def _wait_for(
    query: StreamingQuery, is_over: Callable[[], bool], progress: ProgressListener | None = None
) -> None:
    try:
        _wait(query, is_over, progress)
    except StreamingQueryException as error:
        raise _failure(query, error) from error


def _failure(query: StreamingQuery, error: StreamingQueryException) -> Exception:
    """Return what to raise: Spark hands on no exception of a batch, only its traceback as text."""
    text = full_text(error)
    cause = innermost(text)
    if GONE.search(text):
        return OutputError(f"{cause.sentence()}\n{_LEFT_BEHIND}")
    package, _, name = cause.kind.rpartition(".")
    if package.startswith("changewire.") and name in _OWN_ERRORS:
        return _OWN_ERRORS[name](cause.message)
    place = f"query {query.id}, run {query.runId}"
    text = f"{cause.sentence()}\n{place}; the text of Spark is the cause of this error"
    return StreamingQueryException(text)


def _wait(
    query: StreamingQuery, is_over: Callable[[], bool], listener: ProgressListener | None
) -> None:
    """Wait until a query ends, or until it is over and the batch that it is at is done."""
    reported, at, is_ended = -1, None, False
    while not is_ended:
        try:
            is_ended = bool(query.awaitTermination(_SECONDS))
        finally:
            for batch in committed(query, reported):
                reported = batch.batch
                if listener is not None:
                    listener(batch)
                check(batch)
        if not is_over():
            at = _last_batch(query)
        elif not query.status["isTriggerActive"] or _last_batch(query) != at:
            query.stop()  # a batch that has just begun is retried by the next run


def _last_batch(query: StreamingQuery) -> int | None:
    progress = last_progress(query)
    return None if progress is None else batch_id(progress)
