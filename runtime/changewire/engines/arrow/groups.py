"""Decoded rows counted by what a report groups them by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.counts import Counts, MessageCounts

_UPDATE: Final = "update"
_MICROSECONDS_AN_HOUR: Final = 3_600_000_000


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
