"""The two queries that make tables of messages: one lands them in a log, one applies the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery


@dataclass
class TableQueries:
    """The queries of `apply_changes`.

    A query that reads to the end of its source is followed by the one that applies the log: it is
    started by whatever waits for the end.

    Attributes:
        land: Appends messages to the log.
        apply: Merges the log into tables; None before it is started.
    """

    land: StreamingQuery
    _start: Callable[[], StreamingQuery]
    is_sequential: bool
    apply: StreamingQuery | None = None
    _is_stopped: bool = False

    def __post_init__(self) -> None:
        """Start the second query, unless the first one must have ended."""
        if self.is_sequential:
            return
        try:
            self.apply = self._start()
        except BaseException:
            self.land.stop()
            raise

    @property
    def isActive(self) -> bool:  # noqa: N802 - as in PySpark
        """Whether a query runs, or is to be started."""
        if self.apply is not None:
            return self.land.isActive or self.apply.isActive
        return self.land.isActive or not (self._is_stopped or self.land.exception())

    def awaitTermination(self, timeout: int | None = None) -> bool | None:  # noqa: N802 - as above
        """Wait until both queries have ended; for each at most `timeout` seconds."""
        ended = self.land.awaitTermination(timeout)
        if (timeout is not None and not ended) or (self.apply is None and self._is_stopped):
            return ended
        return self.applying().awaitTermination(timeout)

    def processAllAvailable(self) -> None:  # noqa: N802 - as above
        """Wait until all messages of the source are in the log, and their changes in tables."""
        self.land.processAllAvailable()
        self.applying().processAllAvailable()

    def exception(self) -> StreamingQueryException | None:
        """Return what ended one of the queries."""
        found = self.land.exception()
        return found if found or self.apply is None else self.apply.exception()

    def stop(self) -> None:
        """Stop both queries; one that was not started is never started."""
        self._is_stopped = True
        self.land.stop()
        if self.apply is not None:
            self.apply.stop()

    def applying(self) -> StreamingQuery:
        """Return the query that applies the log, started if it was not."""
        if self.apply is None:
            self.apply = self._start()
        return self.apply
