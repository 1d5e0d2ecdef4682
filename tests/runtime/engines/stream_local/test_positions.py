"""Where partitions begin and go on, without a broker."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.runtime.engines.stream_local.bounds import A, B, Ends, positions

import changewire.delta as cwd
from changewire.engines.log import log_schema
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.stream.positions import Positions
from changewire.engines.stream.reader import Bounds
from changewire.engines.stream.source import Place


def begun(path: Path, reader: Any, **options: str) -> Positions:
    """Return positions that the log has, of the partitions that a reader knows."""
    found = positions(path, **options)
    found.add(reader.bounds_of, reader)
    AppendedLog(str(path), log_schema()).append(log_schema().empty_table(), found.numbers())
    return positions(path, **options)


def test_a_topic_that_is_created_again_goes_on_where_the_log_is(tmp_path: Path) -> None:
    """A pattern finds it while the stream runs: fewer records than the log has are an error."""
    reader: Any = Ends({A: Bounds(0, 10), B: Bounds(0, 3)})
    found = begun(tmp_path, reader, startingOffsets="latest")
    assert found.add([B], reader) == [B]
    assert found.add([A, B], reader) == [A]
    assert found.next == {B: 3, A: 10}
    reader.bounds_of[A] = Bounds(0, 4)
    again = positions(tmp_path)
    again.add([B], reader)
    with pytest.raises(cwd.StreamError, match="a/0: the log goes on at offset 10, and the part"):
        again.add([A], reader)


def test_a_partition_that_is_gone_is_left_if_nothing_is_unread(tmp_path: Path) -> None:
    """Unread records end the stream, unless it may pass over them; without partitions it waits."""
    reader: Any = Ends({A: Bounds(0, 10), B: Bounds(0, 3)})
    for is_strict in ("true", "false"):
        found = begun(tmp_path, reader, failOnDataLoss=is_strict, startingOffsets="latest")
        found.add([A, B], reader)
        assert found.leave(B, 3) == 0
        if is_strict == "true":
            with pytest.raises(cwd.StreamError, match=r"offset 10, .* is gone.* 2 offsets lie"):
                found.leave(A, 12)
        else:
            assert found.leave(A, 12) == 2
            assert (found.next, found.are_done) == ({}, False)


@pytest.mark.parametrize(
    ("starts", "text"),
    [
        ('{"b": {"0": 2}}', None),
        ('{"b": {"0": 2}, "B": {"0": 1}}', "startingOffsets: B/0 is not read: correct it"),
        ('{"b": {"0": 2, "1": 1}}', "startingOffsets: b/1 is not read: correct it"),
        ('{"a": {}}', None),
        ('{"a": {"1": 2}}', "startingOffsets: a/1 is not read: correct it"),
        ('{"c": {"0": 2}}', "startingOffsets: c/1 is missing: -1 is the latest offset"),
        (
            '{"a": {"0": -3}}',
            "a/0: expected an offset up to 3, -1 or -2, found -3",
        ),
        ('{"a": {"0": 4}}', "a/0: expected an offset up to 3, -1 or -2, found 4"),
    ],
)
def test_starts_are_those_of_partitions_that_are_read(
    tmp_path: Path, starts: str, text: str | None
) -> None:
    """All of a topic that is listed, and no others, while the log has no offsets."""
    places = [A, B, Place("c", 0), Place("c", 1)]
    reader: Any = Ends(dict.fromkeys(places, Bounds(0, 3)))
    begins = pytest.raises(cwd.KafkaOptionsError, match=text) if text else nullcontext()
    with begins:
        positions(tmp_path, startingOffsets=starts).add(places, reader)
    begun(tmp_path, reader)
    assert positions(tmp_path, startingOffsets=starts).add(places, reader) == places


def test_records_are_wanted_as_if_they_came_one_by_one(tmp_path: Path) -> None:
    """Some are in the log already, some lie beyond the end, and offsets lack records."""
    draw = Random(7)  # noqa: S311 - a test, no secret
    for _ in range(300):
        at, end = draw.randrange(20), draw.choice([None, draw.randrange(30)])
        found = positions(tmp_path)
        found.next[A] = at
        if end is not None:
            found.ends[A] = end
        wanted: list[int] = []
        offsets = sorted(draw.sample(range(40), draw.randrange(1, 20)))
        cut = draw.randrange(len(offsets) + 1)
        for some in (offsets[:cut], offsets[cut:]):
            wanted += some[found.take(A, some)]
        last = offsets[-1] + 1
        read = range(at, max(at, last if end is None else min(last, max(end, at))))
        assert wanted == [one for one in offsets if one in read]
        assert found.next[A] == read.stop
        assert found.gaps == len(read) - len(wanted)
