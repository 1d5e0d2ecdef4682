"""What a report takes from decoded rows: counts by group, and the first dead letters."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.counts import Counts, MessageCounts
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.outcome import FIRST_DEAD_LETTERS, PLACE_COLUMNS, place_order

Letters: TypeAlias = list[tuple[Any, dict[str, Any]]]
"""Dead letters, each with what orders it."""

_UPDATE: Final = "update"
_MICROSECONDS_AN_HOUR: Final = 3_600_000_000


def count(rows: pa.RecordBatch, counts: Counts) -> None:
    """Add decoded rows to counts."""
    is_of_messages = isinstance(counts, MessageCounts)
    for group in _groups(rows, _variants(rows) if is_of_messages else _changes(rows)):
        counts.add(group)
    counts.leniencies.update(_leniencies(rows))


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


def is_lone_before(rows: pa.RecordBatch | pa.Table) -> Any:
    """Return which rows are a before image without its after image."""
    minor = pc.struct_field(rows["sequence"], "minor")
    is_first = pc.or_kleene(pc.is_null(minor), pc.equal(minor, 0))
    is_half = pc.and_(pc.is_null(rows["after"]), pc.is_valid(rows["before"]))
    return pc.and_(pc.and_(pc.equal(rows["op"], _UPDATE), is_half), is_first)


def _variants(rows: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return what groups rows of messages."""
    return {"variant": rows.column("variant")}


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

    In integers: no double holds the times of the last millennia to the microsecond.
    """
    hours = pc.divide(times, _MICROSECONDS_AN_HOUR)  # towards zero
    is_above = pc.greater(pc.multiply(hours, _MICROSECONDS_AN_HOUR), times)
    return pc.subtract(hours, is_above.cast(pa.int64()))


def _leniencies(rows: pa.RecordBatch) -> dict[str, int]:
    """Return how often each leniency was used."""
    names = pc.list_flatten(rows.column("leniencies"))
    return {item["values"]: item["counts"] for item in names.value_counts().to_pylist()}


def first_letters(first: Letters, rows: pa.RecordBatch | pa.Table, *, show_values: bool) -> Letters:
    """Return the first dead letters by position, of those known and those in a batch."""
    dead = rows.filter(pc.equal(rows.column("kind"), DEAD_LETTER))
    columns = [*PLACE_COLUMNS, *(["value"] if show_values else [])]
    letters = dead.slice(0, FIRST_DEAD_LETTERS).select(columns).to_pylist()
    found = [*first, *((place_order(letter), letter) for letter in letters)]
    return heapq.nsmallest(FIRST_DEAD_LETTERS, found, key=lambda item: item[0])
