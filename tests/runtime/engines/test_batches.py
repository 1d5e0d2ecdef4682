"""Records become few batches, however little a source gives at a time."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import changewire.arrow as cwa
from changewire.engines.arrow.batches import BATCH_BYTES, batches, to_batch
from changewire.engines.stream.batch import Records
from changewire.engines.stream.source import Place
from changewire.framing import FramingError, Position, Record
from changewire.framing.record import Lines
from changewire.framing.shapes import read_together

LINE = b"{" + b" " * 1021 + b"}"
LINES = 2 * BATCH_BYTES // len(LINE)
DAY = 24 * 60 * 60 * 1000
FIRST, LAST = -719_162 * DAY, 2_932_897 * DAY - 1
"""Milliseconds since 1970 of the years 1 to 9999."""

TIMES = [FIRST, LAST, FIRST - 1, LAST + 1, 1_764_400_000_000_000, -(2**63), 2**63 - 1, -1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_lines_of_a_pipe_are_gathered(tmp_path: Path) -> None:
    """A pipe gives 64 KiB at a time, and batches are as large as those of a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = (LINE + b"\n") * LINES
    writer = threading.Thread(target=lambda: pipe.write_bytes(text), daemon=True)
    writer.start()
    found = _batches(pipe)
    writer.join()
    assert len(found) <= 3
    assert sum(map(len, found)) == LINES


def test_lines_of_gzip_are_gathered(tmp_path: Path) -> None:
    """It inflates some kilobytes at a time; numbers go on from one chunk to the next."""
    file = tmp_path / "file.gz"
    file.write_bytes(gzip.compress((LINE + b"\n") * LINES))
    found = _batches(file)
    assert len(found) <= 3
    numbers = pa.concat_arrays([batch.column("number") for batch in found])
    assert numbers.to_pylist() == list(range(LINES))


def test_what_was_read_comes_before_the_error(tmp_path: Path) -> None:
    """A file that is cut off has the lines before, and then its error."""
    file = tmp_path / "file.gz"
    whole = gzip.compress((LINE + b"\n") * 10 + bytes(range(256)) * 100, mtime=0)
    file.write_bytes(whole[:-100])
    found = batches(read_together(str(file), shape="json-lines"))
    assert len(next(found)) >= 10
    with pytest.raises(FramingError, match="cut off"):
        next(found)


def test_lines_and_records_keep_their_order() -> None:
    """Lines of several files and records become batches with the place of each."""
    parts: list[Record | Lines] = [
        Lines("a", 0, [b"1", b"2"]),
        Lines("a", 2, [b"3"]),
        Lines("b", 0, [b"4"]),
        Record(None, b"5", Position(number=9)),
        Lines("a", 0, [b"6"]),
    ]
    found = pa.Table.from_batches(batches(parts)).select(["value", "path", "number"])
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        (b"1", "a", 0),
        (b"2", "a", 1),
        (b"3", "a", 2),
        (b"4", "b", 0),
        (b"5", None, 9),
        (b"6", "a", 0),
    ]


def test_times_beyond_the_years_of_tables_are_null() -> None:
    """Clients may set any time: microseconds, taken for milliseconds, are of late years."""
    records = [Record(None, b"{", Position(timestamp=time)) for time in TIMES]
    column = pa.table({"value": [b"{"] * len(TIMES), "timestamp": pa.array(TIMES, pa.int64())})
    letters = cwa.decode(column, format="aerospike-json").dead_letters.read_all()
    of_stream = Records()
    nothing = [None] * len(TIMES)
    columns: dict[str, list[Any]] = {"value": [b"{"] * len(TIMES), "timestamp": TIMES}
    others = {"key": nothing, "headers": nothing, "offset": [*range(len(TIMES))]}
    of_stream.add(Place("t", 0), columns | others)
    for found in (to_batch(records), of_stream.batch(), letters):
        shown = [str(time) for time in found.column("timestamp").to_pylist()]
        assert shown[:2] == ["0001-01-01 00:00:00+00:00", "9999-12-31 23:59:59.999000+00:00"]
        assert {*shown[2:]} == {"None"}


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_times_of_a_column_are_those_of_tables(unit: str) -> None:
    """Whatever its unit; one of nanoseconds has no other years."""
    times = pa.array([0, 2**61], pa.timestamp(unit))
    found = cwa.decode(pa.table({"value": [b"{"] * 2, "timestamp": times}), format="aerospike-json")
    first, second = found.dead_letters.read_all().column("timestamp").to_pylist()
    assert (first.year, second) == (1970, None)


def _batches(path: Path) -> list[pa.RecordBatch]:
    return [*batches(read_together(str(path), shape="json-lines"))]
