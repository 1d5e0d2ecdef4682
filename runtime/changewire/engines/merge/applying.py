"""The changes of a log that its tables lack, merged into them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from changewire.engines.arrow.batches import grouped
from changewire.engines.by_table import Applied
from changewire.engines.known import KnownLog
from changewire.engines.log import LOG_COLUMNS, refused_rows
from changewire.engines.merge.facts import chosen_rows, known_log
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.merging import Merges
from changewire.engines.merge.options import LocalOptions
from changewire.tables.routing import Refusal

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
            merges, why = Merges(options, log, self._read()), dict[int, Refusal]()
            has_rows, number = False, 0
            for every in grouped(log.unmerged(), _APPLIED, _APPLIED_BYTES):
                has_rows, rows = True, merges.chosen(every)
                refused = merges.merge(rows)
                log.add_refused(rows, refused)
                why |= {number + n: refusal for n, refusal in refused.items()}
                number += len(rows)
            refusals = [*self._refusals(why)]
            log.merged_to(version, has_rows=has_rows)
            if refusals:
                log.append_refused(pa.concat_tables(refusals))
            found = merges.applied()
        return found

    def _refusals(self, why: Mapping[int, Refusal]) -> Iterator[pa.Table]:
        """Yield the rows that say why changes are refused, by their numbers among those merged.

        Tables need few columns of a log, so what else these rows have is read now.
        """
        routing, first = self._options.routing, 0
        for every in self._log.unmerged(LOG_COLUMNS) if why else ():
            rows = chosen_rows(every, routing)
            numbers = range(first, first + len(rows))
            if found := {n - first: why[n] for n in numbers if n in why}:
                yield refused_rows(rows, found, routing.template.text)
            first += len(rows)

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
