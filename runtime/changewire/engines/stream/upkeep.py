"""The tables of a stream: when changes are merged into them, and when files are compacted."""

from __future__ import annotations

import time
from contextlib import suppress

from changewire.engines.errors import OutputError
from changewire.engines.merge import delta
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.merge.applying import Applying
from changewire.engines.merge.int96 import check_times
from changewire.engines.options import BatchId
from changewire.engines.retries import WriteConflictError
from changewire.engines.stream.options import LocalStream
from changewire.engines.stream.reports import BatchReports


class Upkeep:
    """Work between batches: merges into tables, and compactions."""

    def __init__(
        self,
        log: AppendedLog,
        options: LocalStream,
        applying: Applying | None,
        reports: BatchReports,
    ) -> None:
        """Take a log, and what merges its changes into tables; None without tables."""
        self._log, self._options, self._reports = log, options, reports
        self._applying = applying
        self._is_due, self._has_landed = True, False  # a run that was killed may have left changes
        self._applied = self._compacted = time.monotonic()

    def landed(self) -> None:
        """Take note that the log has new rows."""
        self._is_due = self._has_landed = True

    def __call__(self, batch: BatchId, *, is_idle: bool, is_over: bool) -> None:
        """Do what is due."""
        options, now = self._options, time.monotonic()
        is_time = options.continuous and now - self._applied >= options.apply_every
        if self._applying is not None and self._is_due and (is_time or is_over):
            self._apply(batch)
        every = options.compact_every
        if every is not None and options.continuous and now - self._compacted >= every:
            self.compact()
        if self._applying is not None and (is_idle or is_over) and not self._is_due:
            self._applying.finish()

    def _apply(self, batch: BatchId) -> None:
        assert self._applying is not None  # noqa: S101 - for type checkers
        begun = time.perf_counter()
        merged = self._applying()
        self._is_due, self._applied = False, time.monotonic()
        if self._has_landed or merged.counts:
            self._reports.tables.add(batch, merged, time.perf_counter() - begun)
        self._has_landed = False

    def compact(self) -> None:
        """Write small files together; what another writer changes meanwhile is left to later."""
        begun = time.perf_counter()
        known = None if self._applying is None else self._applying.known
        targets = [] if known is None else [one.name for one in known.tables.names.values()]
        with suppress(WriteConflictError, OutputError):
            self._log.refresh()
            self._log.compact()
        for path in sorted(targets):
            with suppress(WriteConflictError, OutputError):
                table = delta.opened(path)
                if table is not None:
                    check_times(path, table)
                    delta.compact(path, table)
        self._compacted = time.monotonic()
        if self._options.listener.notice is not None:
            seconds = time.perf_counter() - begun
            self._options.listener.notice(f"compacted the log and its tables; {seconds:.1f} s")
