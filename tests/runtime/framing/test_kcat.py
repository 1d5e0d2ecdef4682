"""What ``kcat -J`` prints becomes the Kafka record that it shows."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from changewire.framing import FramingError, Position, Record, read

Write = Callable[..., str]
LINE: dict[str, Any] = {
    "topic": "orders",
    "partition": 3,
    "offset": 42,
    "tstype": "create",
    "ts": 1700000000123,
    "broker": 1,
    "headers": ["a", "1", "b", None, "a", "ü"],
    "key": "k",
    "payload": '{"x":"é"}',
}


def line(**changes: Any) -> bytes:
    """Return a line with some keys changed, or left out where they are `...`."""
    changed = LINE | changes
    return json.dumps({key: value for key, value in changed.items() if value is not ...}).encode()


def only(path: str) -> Record:
    """Return the one record of a file."""
    (record,) = read(path, shape="kcat")
    return record


def test_record(write: Write) -> None:
    """Key, payload, headers, topic, partition, offset and timestamp are those of the line."""
    path = write(line() + b"\n")
    assert only(path) == Record(
        b"k",
        '{"x":"é"}'.encode(),
        Position("orders", 3, 42, 1700000000123, path, 0),
        (("a", b"1"), ("b", None), ("a", "ü".encode())),
    )


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        ({"key": None}, None, b"v"),
        ({"key": ...}, None, b"v"),
        ({"key": ""}, b"", b"v"),
        ({"payload": None}, b"k", None),
        ({"payload": ""}, b"k", b""),
        ({"key": None, "payload": None}, None, None),
    ],
)
def test_absent(
    write: Write, changes: dict[str, Any], key: bytes | None, value: bytes | None
) -> None:
    """A null key or payload is None, and so is a missing key; an empty one is empty."""
    record = only(write(line(**{"payload": "v", **changes})))
    assert (record.key, record.value) == (key, value)


@pytest.mark.parametrize(("ts", "expected"), [(-1, None), (..., None), (None, None), (0, 0)])
def test_timestamp(write: Write, ts: Any, expected: int | None) -> None:
    """A timestamp of -1, or none, is None."""
    assert only(write(line(ts=ts))).position.timestamp == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (..., ()),
        (None, ()),
        ([], ()),
        ({"a": ["1", None], "b": ["2"]}, (("a", b"1"), ("a", None), ("b", b"2"))),
    ],
)
def test_headers(write: Write, headers: Any, expected: tuple[object, ...]) -> None:
    """Headers may be absent, or a map from name to values, as kcat prints them by an option."""
    assert only(write(line(headers=headers))).headers == expected


def test_binary(write: Write) -> None:
    """Bytes that are not UTF-8, which kcat copies into its JSON as they are, are kept exactly."""
    text = b"".join(
        bytes([byte]) if byte >= ord(" ") and byte not in b'"\\' else b"\\u%04x" % byte
        for byte in range(256)
    )
    path = write(b'{"topic":"t","partition":0,"offset":0,"key":"\xff","payload":"' + text + b'"}')
    for shape in ("kcat", "auto"):
        (record,) = read(path, shape=shape)
        assert (record.key, record.value) == (b"\xff", bytes(range(256)))


def test_over_several_lines(write: Write) -> None:
    """Objects may stand on several lines, as jq prints them, or without anything between."""
    pretty = json.dumps(json.loads(line()), indent=2).encode()
    for data in (pretty + b"\n" + pretty, line() + line()):
        assert [record.value for record in read(write(data))] == ['{"x":"é"}'.encode()] * 2


def test_ids_of_schemas(write: Write) -> None:
    """Ids of schemas, by which kcat decoded key or value, are not in the record."""
    record = only(write(line(key_schema_id=3, value_schema_id=4)))
    assert (record.key, record.value) == (b"k", '{"x":"é"}'.encode())


def test_blank_lines(write: Write) -> None:
    """Blank lines are skipped; records are numbered without them."""
    path = write(b"\n" + line() + b"\r\n\n" + line(offset=43) + b"\n")
    positions = [record.position for record in read(path, shape="kcat")]
    assert [(at.offset, at.number) for at in positions] == [(42, 0), (43, 1)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"nonsense", "malformed"),
        (b"[]", "Expected `object`"),
        (b"\xff", "malformed"),
        (line()[:-5], "truncated"),
        (line(topic=...), "missing required field `topic`"),
        (line(partition="3"), "Expected `int`"),
        (line(payload={"x": 1}), "payload"),
        (line(payload=...), "missing required field `payload`"),
        (line(value="v"), "unknown field `value`"),
        (line(payload=None, payload_error="bad magic byte"), "run it without -s"),
        (line(key=None, key_error="bad magic byte"), "run it without -s"),
        (line(headers=["a"]), "not pairs"),
        (line(headers=[None, "a"]), "name of a header is null"),
        (b'{"topic":"\xff","x":' + b"[" * 100_000, "nested too deeply"),
        (line(topic="?").replace(b"?", b"\xff"), "name of the topic or of a header is not UTF-8"),
        (line(headers=["?", "v"]).replace(b"?", b"\xff"), "or of a header is not UTF-8"),
        (line(partition=2**31), "<= 2147483647 - at `$.partition`"),
        (line(offset=2**70), "<= 9223372036854775807 - at `$.offset`"),
        (line(key="?", payload="\ud800").replace(b"?", b"\xff"), "surrogate"),
    ],
)
def test_refused(write: Write, bad: bytes, reason: str) -> None:
    """Anything else is an error that names file and record, after the records before it."""
    path = write(line() + b"\n\n" + bad + b"\n")
    records = read(path, shape="kcat")
    next(records)
    with pytest.raises(FramingError) as caught:
        next(records)
    assert (caught.value.path, caught.value.number) == (path, 1)
    assert str(caught.value).startswith(f"{path}, record 1 (the first is 0): the record is not")
    assert reason in caught.value.reason
