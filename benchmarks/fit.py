"""What it costs to make columns of the rows of a log, with the native kernel and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from random import Random
from typing import Any

import msgspec
import pyarrow as pa

from benchmarks.kernel import KERNEL, PYTHON
from benchmarks.tables import MICROSECONDS, Result, timed, verdict
from benchmarks.timing import Timing, compare
from changewire.engines.typed.fit import Fit

ROWS = 16_384
MOST: Mapping[int, float] = {4: 0.8, 40: 3.0}
"""Microseconds of a row that has so many columns, at most."""

KEY = pa.field("id", pa.int64())
KINDS = (pa.string(), pa.decimal128(20, 2), pa.timestamp("us", "UTC"), pa.float64(), pa.bool_())


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield a table for each number of columns; of the values a tenth is null."""
    for count, most in MOST.items():
        yield _of_columns(count, most, rounds=rounds, seconds=seconds)


def _of_columns(count: int, most: float, *, rounds: int, seconds: float) -> Result:
    others = [pa.field(f"column_{i}", KINDS[i % len(KINDS)]) for i in range(count - 1)]
    draw = Random(1)
    rows = [{"id": i} | {one.name: _drawn(one.type, draw) for one in others} for i in range(ROWS)]
    keys = pa.array([f'{{"id":{i}}}' for i in range(ROWS)])
    afters = pa.array([msgspec.json.encode(row).decode() for row in rows])
    with_kernel, without = (Fit([KEY], [KEY, *others]) for _ in range(2))
    if with_kernel.kernel is None:
        raise SystemExit("the native kernel is not installed: nox -s bench builds it")
    vars(without)["kernel"] = None
    found = compare(
        {PYTHON: lambda: without(keys, afters), KERNEL: lambda: with_kernel(keys, afters)},
        rounds=rounds,
        seconds=seconds,
    )
    each = {
        name: Timing(tuple(one / ROWS for one in timing.rounds)) for name, timing in found.items()
    }
    text = verdict("microseconds of a row", each[KERNEL].best * MICROSECONDS, most)
    return timed(f"rows of {count} columns: JSON text to columns", each, PYTHON, text)


def _drawn(kind: pa.DataType, draw: Random) -> Any:
    """Return a value of a column as JSON has it."""
    if not draw.randrange(10):
        return None
    values: Mapping[pa.DataType, Any] = {
        pa.string(): f"name {draw.randrange(10**6)}",
        pa.decimal128(20, 2): str(Decimal(draw.randrange(10**9)).scaleb(-2)),
        pa.timestamp("us", "UTC"): f"2026-11-28T10:00:00.{draw.randrange(10**6):06}Z",
        pa.float64(): draw.randrange(10**6) / 4,
        pa.bool_(): draw.choice([True, False]),
    }
    return values[kind]
