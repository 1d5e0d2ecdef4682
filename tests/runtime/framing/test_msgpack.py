"""MessagePack back to back, or behind lengths: where each message begins and ends."""

import gzip
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from changewire.framing import FramingError, Position, Record, read

Write = Callable[..., str]
relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

CONCATENATED, PREFIXED = "msgpack-concatenated", "msgpack-length-prefixed"
MESSAGES = [
    b"\x93\x01\x02\x91\xa1a",
    b"\x90",
    b"\xc0",
    b"\xdb\x00\x00\x00\x02ab",
    b"\x81\xd4\x05x\xc3",
]


def prefixed(messages: list[bytes | None]) -> bytes:
    """Return messages, each behind its length."""
    return b"".join(
        (-1).to_bytes(4, "big", signed=True) if m is None else len(m).to_bytes(4, "big") + m
        for m in messages
    )


def salvaged(path: str, shape: str, **options: int) -> tuple[list[bytes | None], str]:
    """Return the values of the records of a file, and the error behind them."""
    values: list[bytes | None] = []
    number, reason = None, ""
    try:
        values.extend(record.value for record in read(path, shape=shape, **options))
    except FramingError as error:
        number, reason = error.number, error.reason
    assert number == (len(values) if reason else None)
    return values, reason


def test_values_back_to_back(write: Write) -> None:
    """Each value is a record, byte for byte, with path and number."""
    path = write(b"".join(MESSAGES))
    assert list(read(path, shape=CONCATENATED)) == [
        Record(None, value, Position(path=path, number=i)) for i, value in enumerate(MESSAGES)
    ]


def test_values_behind_lengths(write: Write) -> None:
    """A length of -1 is a record without value, a length of 0 an empty one."""
    messages = [MESSAGES[0], None, b"", b"not MessagePack at all"]
    path = write(prefixed(messages))
    assert list(read(path, shape=PREFIXED)) == [
        Record(None, value, Position(path=path, number=i)) for i, value in enumerate(messages)
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 2**20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_chunks_end_anywhere(
    write: Write, chunk_bytes: Callable[[int], None], size: int, pack: Callable[[bytes], bytes]
) -> None:
    """It makes no difference where chunks end, or whether the file is compressed."""
    chunk_bytes(size)
    first = [MESSAGES[0], *MESSAGES]
    assert salvaged(write(pack(b"".join(first))), "auto") == (first, "")
    assert salvaged(write(pack(prefixed([*first]))), "auto") == (first, "")


@pytest.mark.parametrize("shape", [CONCATENATED, PREFIXED])
def test_nothing_holds_no_record(write: Write, shape: str) -> None:
    """An empty file is no error."""
    assert salvaged(write(b""), shape) == ([], "")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (b"\x93\x01", "begins at byte 12 is cut off, or a length in it is false"),
        (b"\xdd\xff\xff\xff\xff\x01", "begins at byte 12 is cut off, or a length in it is false"),
        (b"\xdb\xff\xff\xff\xff" + bytes(99), "begins at byte 12 is cut off"),
        (b"\xc9\xff\xff\xff\xff\x05" + bytes(99), "begins at byte 12 is cut off"),
        (b"\x92\x01\xc1", "byte 14 is not MessagePack"),
        (b"\x91" * 5000, "nested too deep at byte"),
    ],
)
def test_damage_back_to_back(write: Write, damage: bytes, reason: str) -> None:
    """What cannot be read on is an error with the offset, after the records before it."""
    values, found = salvaged(write(MESSAGES[0] * 2 + damage), CONCATENATED)
    assert values == [MESSAGES[0]] * 2
    assert reason in found


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (b"\x00\x00", "begins at byte 10 is cut off"),
        (b"\x00\x00\x00\x05\x93", "begins at byte 10 is cut off, or a length in it is false"),
        (b"\x7f\xff\xff\xff\x93", "begins at byte 10 is longer than"),
        (b"\xff\xff\xff\xfe", "the length at byte 10 is -2"),
    ],
)
def test_damage_behind_lengths(write: Write, damage: bytes, reason: str) -> None:
    """A length that cannot be, or is more than there is, is an error with the offset."""
    values, found = salvaged(write(prefixed([MESSAGES[0]]) + damage), PREFIXED)
    assert values == [MESSAGES[0]]
    assert reason in found


@pytest.mark.parametrize(("shape", "head"), [(CONCATENATED, b""), (PREFIXED, b"\x00\x00\x01\x2c")])
def test_a_record_has_a_limit(write: Write, shape: str, head: bytes) -> None:
    """A message of more bytes than allowed is an error that names the limit."""
    path = write(head + b"\xdc\x01\x29" + bytes(297))
    assert len(salvaged(path, shape, max_record_bytes=300)[0]) == 1
    assert "longer than 299 bytes" in salvaged(path, shape, max_record_bytes=299)[1]


@pytest.mark.parametrize("shape", [CONCATENATED, PREFIXED])
def test_memory_is_flat(write: Write, shape: str) -> None:
    """A file of many messages costs no more memory than a few chunks of it."""
    message = b"\x92\x01\xc5\x03\xe8" + bytes(1000)
    path = write((message if shape == CONCATENATED else prefixed([message])) * 30_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read(path, shape=shape)) == 30_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 * 2**20


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@relaxed
@given(values=st.lists(VALUES), size=st.integers(1, 99))
def test_what_was_written_is_read(
    write: Write, chunk_bytes: Callable[[int], None], values: list[Any], size: int
) -> None:
    """Whatever a library appends to a file comes back byte for byte, in both shapes."""
    chunk_bytes(size)
    messages = [msgpack.packb(value) for value in values]
    assert salvaged(write(b"".join(messages)), CONCATENATED) == (messages, "")
    assert salvaged(write(prefixed([*messages])), PREFIXED) == (messages, "")


@relaxed
@given(data=st.binary(max_size=200), shape=st.sampled_from([CONCATENATED, PREFIXED]))
def test_any_bytes_are_records_or_damage(write: Write, data: bytes, shape: str) -> None:
    """Whatever the bytes, records are what stands in front of the damage, and nothing else."""
    values, reason = salvaged(write(data), shape)
    found = [value or b"" for value in values]
    whole = b"".join(found) if shape == CONCATENATED else prefixed([*values])
    assert data.startswith(whole)
    assert bool(reason) == (whole != data)
