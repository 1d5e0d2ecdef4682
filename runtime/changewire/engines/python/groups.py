"""What a report takes from decoded rows: counts by group, and the first dead letters."""

from __future__ import annotations

import heapq
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.by_table import Applied, ChangesByTable
from changewire.engines.counts import Counts, MessageCounts
from changewire.engines.decode import Decoder
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.messages import counts_of
from changewire.engines.outcome import FIRST_DEAD_LETTERS, PLACE_COLUMNS, Outcome, place_order

_UPDATE: Final = "update"
_MICROSECONDS_AN_HOUR: Final = 3_600_000_000


class Tally:
    """What the outcome of a run says of the rows that it decoded."""

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

    def add(self, rows: pa.Table, known: int) -> None:
        """Add decoded rows, some of which the log had already."""
        for part in rows.to_batches():
            count(part, self.counts)
        columns = [*PLACE_COLUMNS, *(["value"] if self._show_values else [])]
        dead = rows.filter(pc.equal(rows["kind"], DEAD_LETTER)).slice(0, FIRST_DEAD_LETTERS)
        letters = ((place_order(one), one) for one in dead.select(columns).to_pylist())
        found = [*self._first, *letters]
        self._first = heapq.nsmallest(FIRST_DEAD_LETTERS, found, key=itemgetter(0))
        self._known += known
        if self._progress is not None:
            self._progress(self.counts.messages)

    def outcome(
        self,
        inputs: Sequence[str],
        output: str,
        engine: str,
        applied: Applied | None = None,
    ) -> Outcome:
        """Return the outcome of a run that is at its end."""
        return Outcome(
            counts=self.counts.checked(),
            format=self.decoder.decode_options.format,
            inputs=[*inputs],
            output=output,
            engine=f"python {platform.python_version()}{engine}",
            seconds=time.perf_counter() - self._started,
            first_dead_letters=[letter for _, letter in self._first],
            tables=None if applied is None else applied.counts,
            native=None if self.decoder.kernel is None else self.decoder.kernel.counts,
            already_in_log=self._known,
            changes_by_table=ChangesByTable() if applied is None else applied.by_table,
            unmatched=() if applied is None else applied.unmatched,
        )


def count(rows: pa.RecordBatch, counts: Counts) -> None:
    """Add decoded rows to counts."""
    is_of_messages = isinstance(counts, MessageCounts)
    own = {"variant": rows.column("variant")} if is_of_messages else _changes(rows)
    for group in _groups(rows, own):
        counts.add(group)
    used = pc.list_flatten(rows.column("leniencies")).value_counts().to_pylist()
    counts.leniencies.update({item["values"]: item["counts"] for item in used})


def _changes(rows: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return what groups rows of changes."""
    source = rows.column("source")
    parts = dict(zip(source.type.names, source.flatten(), strict=True))
    return {
        "op": rows.column("op"),
        "is_before": is_lone_before(rows),
        **{name: parts[name] for name in ("database", "schema", "table")},
        "hour": _hours(rows.column("event_time").cast(pa.int64())),
    }


def is_lone_before(rows: Any) -> Any:
    """Return which rows are a before image without its after image, of columns or expressions."""
    minor = pc.struct_field(rows["sequence"], "minor")
    is_first = pc.or_kleene(pc.is_null(minor), pc.equal(minor, 0))
    is_half = pc.and_kleene(pc.is_null(rows["after"]), pc.is_valid(rows["before"]))
    is_update = pc.equal(rows["op"], _UPDATE)
    return pc.and_kleene(pc.and_kleene(is_update, is_half), is_first)


def _groups(rows: pa.RecordBatch, own: Mapping[str, pa.Array]) -> Iterator[dict[str, Any]]:
    """Yield the groups of `Counts.add`."""
    keys = {"kind": rows.column("kind"), **own, "code": rows.column("code")}
    table = pa.table(
        {
            **keys,
            "rows": pa.array([1] * len(rows), pa.int64()),
            "messages": pc.equal(rows.column("element"), 0).cast(pa.int64()),
            "elements": rows.column("elements"),
        }
    )
    sums = [("rows", "sum"), ("messages", "sum"), ("elements", "sum")]
    # Batches are small: threads would cost more than they save.
    for group in table.group_by([*keys], use_threads=False).aggregate(sums).to_pylist():
        yield {
            **{key: group[key] for key in keys},
            **{name: group[f"{name}_sum"] for name, _ in sums},
        }


def _hours(times: pa.Array) -> pa.Array:
    """Return the hours since the Unix epoch in which times are, which are in microseconds.

    In integers: no double represents the times of the last millennia to the microsecond.
    """
    hours = pc.divide(times, _MICROSECONDS_AN_HOUR)  # towards zero
    is_above = pc.greater(pc.multiply(hours, _MICROSECONDS_AN_HOUR), times)
    return pc.subtract(hours, is_above.cast(pa.int64()))
