"""How much is read at once, and when a batch ends, without a broker."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.runtime.engines.stream_local.bounds import A, Ends, positions
from tests.samples import FORMAT

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.options import StreamListener
from changewire.engines.stream.batch import Gathering
from changewire.engines.stream.options import LocalStream
from changewire.engines.stream.reader import Bounds, Found

LARGE = b"." * 2**20


@dataclass
class Sent:
    """A message, as the client gives it."""

    at: int
    has: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        known = {"topic": A.topic, "partition": A.partition, "offset": self.at, "timestamp": (0, 0)}
        found = {**known, **self.has}.get(name)
        return found if callable(found) else lambda: found


@dataclass
class Endless(Ends):
    """A reader of a partition that has no end.

    Attributes:
        has: What each message has.
        asked: How many messages were read at once.
    """

    has: dict[str, Any] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def read(self, most: int) -> Found:
        """Return as many messages as it is asked for, but no more than the client gives."""
        begin, number = sum(self.asked), min(most, 200)
        self.asked.append(number)
        messages: Any = [Sent(begin + index, self.has) for index in range(number)]
        return Found(messages, {}, set())


def as_they_are(records: pa.RecordBatch) -> list[pa.RecordBatch]:
    """Return messages as decoded rows."""
    return [records]


@pytest.mark.parametrize(
    ("has", "largest", "messages"),
    [
        ({"value": b"."}, 200, 1000),
        ({"value": LARGE}, 3, 64),
        ({"key": LARGE}, 3, 64),
        ({"headers": [("a", None), ("b", LARGE)]}, 3, 64),
    ],
)
def test_large_messages_make_small_batches(
    tmp_path: Path, has: dict[str, Any], largest: int, messages: int
) -> None:
    """Whatever is large in them: few are taken from the client at once, and soon decoded."""
    reader: Any = Endless({A: Bounds(0, 10)}, has)
    options = LocalStream(str(tmp_path), DecodeOptions(FORMAT), batch_size=1000, batch_every=3600)
    found = positions(tmp_path)
    found.add([A], reader)
    decoder: Any = as_they_are
    batch = Gathering(reader, found, decoder, options)(lambda: False)
    assert reader.asked[0] == 1
    assert max(reader.asked) == largest
    assert messages <= batch.messages <= messages + 4


def test_the_newest_time_is_one_that_tables_show(tmp_path: Path) -> None:
    """A client may send any time: one of the year 300,000 says nothing of the lag."""
    times = {(1, -1): None, (1, 5): 5, (1, 2**53): None, (0, -1): None, (1, -7): -7}
    for time, newest in times.items():
        reader: Any = Endless({A: Bounds(0, 10)}, {"value": b".", "timestamp": time})
        options = LocalStream(str(tmp_path), DecodeOptions(FORMAT), batch_size=10)
        found = positions(tmp_path)
        found.add([A], reader)
        decoder: Any = as_they_are
        assert Gathering(reader, found, decoder, options)(lambda: False).newest == newest


def test_a_header_name_that_is_not_utf_8_ends_nothing(tmp_path: Path) -> None:
    """The client raises an error: the message is read without headers, and a line says so."""

    def headers() -> None:
        raise SystemError("headers returned a result with an exception set")

    lines: list[str] = []
    reader: Any = Endless({A: Bounds(0, 10)}, {"value": b".", "headers": headers})
    listener = StreamListener(lines.append)
    options = LocalStream(str(tmp_path), DecodeOptions(FORMAT), batch_size=1, listener=listener)
    found = positions(tmp_path)
    found.add([A], reader)
    decoder: Any = as_they_are
    (rows,) = Gathering(reader, found, decoder, options)(lambda: False).rows
    assert rows.column("headers").to_pylist() == [None]
    assert lines == [
        "a/0: offset 0: the name of a header is not UTF-8, so its headers are left out"
    ]
