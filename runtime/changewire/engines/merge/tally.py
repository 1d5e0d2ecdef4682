"""What the outcome of a run says of the rows that it decoded."""

from __future__ import annotations

import heapq
import platform
import time
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.arrow.groups import count
from changewire.engines.by_table import Applied, ChangesByTable
from changewire.engines.counts import Counts
from changewire.engines.decode import Decoder
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.messages import counts_of
from changewire.engines.outcome import FIRST_DEAD_LETTERS, PLACE_COLUMNS, Outcome, place_order


class Tally:
    """Counts and first dead letters of a run."""

    def __init__(
        self,
        decoder: Decoder,
        *,
        show_values: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Begin a run; `progress` gets the number of messages so far."""
        self.decoder = decoder
        self.counts: Counts = counts_of(decoder.decode_options)
        self._first: list[tuple[Any, dict[str, Any]]] = []
        """Dead letters, each with what orders it."""
        self._show_values, self._progress = show_values, progress
        self._started, self._known = time.perf_counter(), 0
        self._size = 0

    def add(self, rows: pa.Table) -> Counts:
        """Add decoded rows, before they are appended to the log; return their own counts.

        Raises:
            ConservationError: They do not add up.
        """
        counts = counts_of(self.decoder.decode_options)
        if not len(rows):
            return counts
        for part in rows.to_batches():
            count(part, counts)
        self.counts.add_all(counts)
        columns = [*PLACE_COLUMNS, *(["value"] if self._show_values else [])]
        dead = rows.filter(pc.equal(rows["kind"], DEAD_LETTER)).slice(0, FIRST_DEAD_LETTERS)
        letters = ((place_order(one), one) for one in dead.select(columns).to_pylist())
        found = [*self._first, *letters]
        self._first = heapq.nsmallest(FIRST_DEAD_LETTERS, found, key=itemgetter(0))
        # The last message may go on in the next rows; its first one says how many it has.
        begun = rows["elements"].filter(pc.equal(rows["element"], 0))
        self._size = begun[-1].as_py() if len(begun) else self._size
        self.counts.checked(self._size - 1 - rows["element"][-1].as_py())
        return counts

    def landed(self, known: int) -> None:
        """Say that the log has the rows now, and how many it had already."""
        self._known += known
        if self._progress is not None:
            self._progress(self.counts.messages)

    def outcome(
        self, inputs: Sequence[str], output: str, applied: Applied | None = None
    ) -> Outcome:
        """Return the outcome of a run that is at its end."""
        return Outcome(
            counts=self.counts.checked(),
            format=self.decoder.decode_options.format,
            inputs=[*inputs],
            output=output,
            engine=f"python {platform.python_version()}, delta-rs {deltalake.__version__}",
            seconds=time.perf_counter() - self._started,
            first_dead_letters=[letter for _, letter in self._first],
            tables=None if applied is None else applied.counts,
            native=None if self.decoder.kernel is None else self.decoder.kernel.counts,
            already_in_log=self._known,
            changes_by_table=ChangesByTable() if applied is None else applied.by_table,
            unmatched=() if applied is None else applied.unmatched,
        )
