"""Laws of framing: nothing is changed, nothing is lost, memory is flat."""

import gzip
import io
import itertools
import json
import tracemalloc
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from changewire.framing import FramingError, read
from changewire.framing.scan import Scanner

pa: Any = import_module("pyarrow")  # its types are not all known
Write = Callable[..., str]
Stdin = Callable[[io.RawIOBase], None]
relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

texts = st.text() | st.text(alphabet='"\\[]{}, \n:a')
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def written(draw: st.DrawFn, *, lines: bool = False) -> bytes:
    """Return a JSON value as some writer puts it: pretty or not, escaped or not."""
    indent = None if lines else draw(st.sampled_from([None, 0, 2]))
    text = json.dumps(draw(values), indent=indent, ensure_ascii=draw(st.booleans()))
    return text.encode("utf-8", "replace")


def zstd(data: bytes) -> bytes:
    """Return the data, compressed."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue().to_pybytes())


packers = st.sampled_from([bytes, gzip.compress, zstd])
blanks = st.text(alphabet=" \t\r\n", max_size=3).map(str.encode)
gaps = st.text(alphabet=" \t\r\n", min_size=1, max_size=3).map(str.encode)


def framed(path: str, shape: str) -> list[bytes]:
    """Return the value of every record."""
    return [record.value or b"" for record in read(path, shape=shape)]


@relaxed
@given(messages=st.lists(written(lines=True)), end=st.sampled_from([b"\n", b"\r\n"]), pack=packers)
def test_lines(
    write: Write, messages: list[bytes], end: bytes, pack: Callable[[bytes], bytes]
) -> None:
    """Messages written as lines are read back byte for byte."""
    assert framed(write(pack(end.join(messages))), "json-lines") == messages


@relaxed
@given(messages=st.lists(written()), gap=blanks, pack=packers)
def test_array(
    write: Write, messages: list[bytes], gap: bytes, pack: Callable[[bytes], bytes]
) -> None:
    """Messages written as an array are read back byte for byte."""
    body = (gap + b"," + gap).join(messages)
    data = gap + b"[" + gap + body + gap + b"]" + gap
    assert framed(write(pack(data)), "json-array") == messages


@relaxed
@given(messages=st.lists(written()), gap=gaps, pack=packers)
def test_concatenated(
    write: Write, messages: list[bytes], gap: bytes, pack: Callable[[bytes], bytes]
) -> None:
    """Messages written one behind the other are read back byte for byte."""
    assert framed(write(pack(gap.join(messages))), "json-concatenated") == messages


@relaxed
@given(messages=st.lists(written().filter(lambda text: text[:1] in b"{[")))
def test_concatenated_without_gap(write: Write, messages: list[bytes]) -> None:
    """Objects and arrays need nothing between them."""
    assert framed(write(b"".join(messages)), "json-concatenated") == messages


@relaxed
@given(rows=st.lists(st.dictionaries(texts, values), min_size=2), pretty=st.booleans())
def test_auto(write: Write, rows: list[dict[str, object]], *, pretty: bool) -> None:
    """Without a named shape, several objects are read back whichever way they were written."""
    objects = [json.dumps(row | {"a": 1}, indent=1 if pretty else None).encode() for row in rows]
    array = json.dumps([row | {"a": 1} for row in rows], indent=1).encode()
    assert framed(write(b"\n".join(objects)), "auto") == objects
    assert [json.loads(text) for text in framed(write(array), "auto")] == [
        json.loads(text) for text in objects
    ]


@given(data=st.binary() | st.lists(written()).map(b" ".join), sizes=st.lists(st.integers(1, 9)))
def test_scanner_chunks(data: bytes, sizes: list[int]) -> None:
    """Whatever the bytes, it makes no difference where chunks end."""
    whole, parts = Scanner(), Scanner()
    expected = whole.feed(data)
    found: list[bytes] = []
    rest = data
    for size in sizes:
        found += parts.feed(rest[:size])
        rest = rest[size:]
    found += parts.feed(rest)
    assert (found, parts.pending) == (expected, whole.pending)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a JSON array of which some bytes were removed, changed or added."""
    data = bytearray(b"[" + b",".join(draw(st.lists(written(), max_size=5))) + b"]")
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 3)))
        data[start:end] = draw(st.binary(max_size=2) | st.sampled_from([*b'"\\{}[],']).map(_byte))
    return bytes(data)


def _byte(value: int) -> bytes:
    return bytes([value])


def left_over(data: bytes, records: list[bytes]) -> bytes:
    """Return the bytes of the data that are in no record, without blanks."""
    at = 0
    between = b""
    for record in records:
        begin = data.index(record, at)
        between += data[at:begin]
        at = begin + len(record)
    return (between + data[at:]).translate(None, b" \t\r\n")


def salvaged(path: str, shape: str) -> tuple[list[bytes], FramingError | None]:
    """Return the records of a file, and the error behind them if there is one."""
    records: list[bytes] = []
    try:
        records.extend(record.value or b"" for record in read(path, shape=shape))
    except FramingError as error:
        return records, error
    return records, None


@relaxed
@given(data=damaged())
def test_nothing_is_lost_of_arrays(write: Write, data: bytes) -> None:
    """Of a damaged array, every byte but its own brackets and commas is in one record, in order."""
    records, error = salvaged(write(data), "json-array")
    if error and "not one JSON array" in error.reason:
        assert data.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1] != b"["
        return
    behind = data.partition(b"[")[2]
    assert left_over(behind, records).replace(b",", b"") in {b"", b"]"}


@relaxed
@given(data=damaged() | st.binary(), shape=st.sampled_from(["json-lines", "json-concatenated"]))
def test_nothing_is_lost(write: Write, data: bytes, shape: str) -> None:
    """Of any bytes, every one that is not blank is in one record, in order."""
    records, error = salvaged(write(b"x" + data), shape)
    assert error is None
    assert left_over(b"x" + data, records) == b""


class Endless(io.RawIOBase):
    """A stream that repeats a piece of text many times, between a head and a tail."""

    def __init__(self, head: bytes, piece: bytes, tail: bytes, pieces: int) -> None:
        """Prepare the stream."""
        super().__init__()
        self._parts = itertools.chain([head], itertools.repeat(piece, pieces), [tail])
        self._rest = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Write the next part, or as much of it as there is room for."""
        part = self._rest or b"".join(itertools.islice(self._parts, 1000))
        part, self._rest = part[: len(buffer)], part[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


@pytest.mark.parametrize(
    ("shape", "head", "gap", "tail"),
    [
        ("json-lines", b"1\n", b"\n", b"1"),
        ("json-array", b"[1,", b",\n", b"1]"),
        ("json-concatenated", b"1", b"", b"1"),
    ],
)
def test_memory_is_flat(  # noqa: PLR0917 - fixtures and the parts of a stream
    stdin: Stdin,
    chunk_bytes: Callable[[int], None],
    shape: str,
    head: bytes,
    gap: bytes,
    tail: bytes,
) -> None:
    """However long the input, only a few chunks of it are in memory."""
    chunk_bytes(2**16)
    pieces = 120_000
    piece = b'{"a":[1,2,"x"],"b":{"c":null}}' + gap
    stdin(Endless(head, piece, tail, pieces))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read("-", shape=shape))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == pieces + 2
    assert peak < pieces * len(piece) / 6
