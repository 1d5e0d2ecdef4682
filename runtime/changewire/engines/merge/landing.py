"""Decoded rows to a log that may lack them, and what a batch must be to be landed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.applied import FIRST_REASONS, check_keys, too_many
from changewire.engines.layout import CHANGE, DEAD_LETTER
from changewire.engines.log import log_rows
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.merge.facts import chosen_rows, columns_of
from changewire.engines.options import Limit, allowed
from changewire.tables.routing import Routing


class Landing:
    """Appends decoded rows to a log, each element once.

    Attributes:
        log: The log.
        number: The number of the next batch, which errors name.
        has_keys: Whether the log has a change with a key.
    """

    def __init__(
        self,
        log: AppendedLog,
        decode_options: DecodeOptions,
        max_dead_letters: Limit | None = None,
        routing: Routing | None = None,
    ) -> None:
        """Take a log; the routing is that of its tables, None without any."""
        self.number: int = 0
        self.log: AppendedLog = log
        self._decode_options, self._routing = decode_options, routing
        self._max_dead_letters = max_dead_letters
        self.has_keys: bool = log.version >= 0

    def append(
        self,
        rows: pa.Table,
        numbers: Mapping[str, int] | None = None,
        check: Callable[[], None] | None = None,
    ) -> int:
        """Append the rows that the log lacks, and return how many they are.

        The commit gives transactions their numbers; without rows and numbers there is no
        commit. A check is called with the version of the log that the commit follows.
        """
        log = self.log
        log.refresh()
        if check is not None:
            check()
        new = log.lacking(rows)
        self._check_dead_letters(new)
        self._check_keys(new)
        if len(new) or numbers:
            log.append(log_rows(new), numbers)
        self.number += 1
        return len(new)

    def _check_dead_letters(self, new: pa.Table) -> None:
        limit = self._max_dead_letters
        if limit is None:
            return
        dead = new.filter(pc.equal(new["kind"], DEAD_LETTER))
        if len(dead) > allowed(limit, len(new)):
            first = dead.slice(0, FIRST_REASONS).to_pylist()
            raise too_many(limit, len(new), Counter(dead["code"].to_pylist()), first, self.number)

    def _check_keys(self, new: pa.Table) -> None:
        """Refuse changes without keys, of which no table could be made."""
        if self._routing is None:
            return
        chosen = chosen_rows(new, self._routing)
        changes = chosen.filter(pc.equal(chosen["kind"], CHANGE))
        number, keyless = len(changes), changes["key"].null_count
        check_keys(
            (number, keyless),
            self._decode_options.key_columns,
            lambda: columns_of(changes),
            has_tables=self.has_keys,
        )
        self.has_keys = self.has_keys or keyless < number
