"""The changes of a log that its tables lack, merged into them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from changewire.engines.arrow.batches import grouped
from changewire.engines.by_table import Applied
from changewire.engines.known import KnownLog
from changewire.engines.log import refused_rows
from changewire.engines.merge.facts import known_log
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.merging import Merges
from changewire.engines.merge.options import LocalOptions

_APPLIED: Final = 200_000
_APPLIED_BYTES: Final = 128 * 2**20
"""Rows, or bytes of them, that are merged into tables together."""


def applied(log: LocalLog, options: LocalOptions) -> Applied:
    """Merge the changes of a log that its tables lack; return what became of them."""
    applying = Applying(log, options)
    found = applying()
    applying.finish()
    return found


class Applying:
    """Merges the changes of a log that its tables lack, as often as it is called.

    The log is read once, and again if another writer changed it.

    Attributes:
        known: The content of the log that tables have; None if nothing was merged yet.
    """

    def __init__(self, log: LocalLog, options: LocalOptions) -> None:
        """Take a log, and how its changes are applied."""
        self.known: KnownLog | None = None
        self._log, self._options = log, options
        self._others = log.others

    def __call__(self) -> Applied:
        """Merge changes, and return what became of them; the next commit of the log tells it.

        Why changes are refused is appended last, so that no kill can lose one: an element may be
        refused twice.
        """
        log, options = self._log, self._options
        log.refresh()
        found, version = Applied(), log.version
        if log.merged < version:
            merges, refused = Merges(options, log, self._read()), list[pa.Table]()
            target = options.routing.template.text
            has_rows = False
            for every in grouped(log.unmerged(), _APPLIED, _APPLIED_BYTES):
                has_rows, rows = True, merges.chosen(every)
                if why := merges.merge(rows):
                    refused.append(refused_rows(rows, why, target))
                    log.add_refused(rows, why)
            log.merged_to(version, has_rows=has_rows)
            for rows in refused:
                log.append_refused(rows)
            found = merges.applied()
        return found

    def finish(self) -> None:
        """Let the log tell what was merged, if none of its commits does yet."""
        self._log.finish()

    def _read(self) -> KnownLog:
        """Return the content of the log that tables have."""
        log, options = self._log, self._options
        if self.known is None or self._others != log.others:
            is_asked = options.tables.apply_truncates
            self.known = known_log(log, options.routing, with_truncates=is_asked)
            log.know_refused()
            self._others = log.others
        return self.known
