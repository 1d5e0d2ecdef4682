"""What it costs to make columns of the rows of a log, with the native kernel and without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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

LARGE, FEW, MOST_LARGE = 1000, 512, 150.0
"""Columns of rows that have them in another order, such rows, and microseconds of one, at most:
twice the time of a column of 40."""

KEY = pa.field("id", pa.int64())
KINDS = (pa.string(), pa.decimal128(20, 2), pa.timestamp("us", "UTC"), pa.float64(), pa.bool_())


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield a table for each number of columns; of the values a tenth is null."""
    for count, most in MOST.items():
        others = _columns(count - 1)
        title = f"rows of {count} columns: JSON text to columns"
        yield _of_rows(title, _rows(ROWS, others), others, most, rounds=rounds, seconds=seconds)
    others = _columns(LARGE - 1)
    rows = _rows(FEW, others[::-1])
    title = f"rows of {LARGE} columns, in reversed order: JSON text to columns"
    yield _of_rows(title, rows, others, MOST_LARGE, rounds=rounds, seconds=seconds)


def _columns(count: int) -> list[pa.Field]:
    return [pa.field(f"column_{i}", KINDS[i % len(KINDS)]) for i in range(count)]


def _rows(count: int, columns: Iterable[pa.Field]) -> list[dict[str, Any]]:
    draw, columns = Random(1), [*columns]
    return [{"id": i} | {one.name: _drawn(one.type, draw) for one in columns} for i in range(count)]


def _of_rows(
    title: str,
    rows: list[dict[str, Any]],
    others: list[pa.Field],
    most: float,
    *,
    rounds: int,
    seconds: float,
) -> Result:
    keys = pa.array([f'{{"id":{i}}}' for i in range(len(rows))])
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
        name: Timing(tuple(one / len(rows) for one in timing.rounds))
        for name, timing in found.items()
    }
    text = verdict("microseconds of a row", each[KERNEL].best * MICROSECONDS, most)
    return timed(title, each, PYTHON, text)


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
