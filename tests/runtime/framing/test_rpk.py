"""What ``rpk topic consume`` prints becomes the Kafka record that it shows."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from changewire.framing import FramingError, Position, Record, read

Write = Callable[..., str]
OBJECT: dict[str, Any] = {
    "topic": "orders",
    "key": "k",
    "value": '{"x":"é"}',
    "headers": [{"key": "a", "value": "1"}, {"key": "b", "value": ""}, {"key": "a", "value": "ü"}],
    "timestamp": 1700000000123,
    "partition": 3,
    "offset": 42,
}


def printed(indent: int | None = None, **changes: Any) -> bytes:
    """Return an object with some keys changed, or left out if they are `...`."""
    changed = {key: value for key, value in {**OBJECT, **changes}.items() if value is not ...}
    return json.dumps(changed, indent=indent).encode()


@pytest.mark.parametrize("shape", ["rpk", "auto"])
@pytest.mark.parametrize("indent", [None, 2])
def test_record(write: Write, indent: int | None, shape: str) -> None:
    """Key, value, headers and place are those of the object, on one line or over several."""
    path = write(printed(indent) + b"\n" + printed(indent, offset=43) + b"\n")
    headers = (("a", b"1"), ("b", b""), ("a", "ü".encode()))
    assert [*read(path, shape=shape)] == [
        Record(
            b"k",
            '{"x":"é"}'.encode(),
            Position("orders", 3, 42 + number, 1700000000123, path, number),
            headers,
        )
        for number in range(2)
    ]


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        ({}, b"k", b"v"),
        ({"key": ...}, None, b"v"),
        ({"key": None}, None, b"v"),
        ({"value": ...}, b"k", None),
        ({"value": None}, b"k", None),
        ({"value": ""}, b"k", b""),
        ({"key": ..., "value": ...}, None, None),
    ],
)
def test_absent(
    write: Write, changes: dict[str, Any], key: bytes | None, value: bytes | None
) -> None:
    """A key, value or headers that are missing or null are those of a record without them."""
    parts: dict[str, Any] = {"value": "v", **changes}
    (record,) = read(write(printed(headers=..., timestamp=-1, **parts)))
    assert (record.key, record.value, record.headers) == (key, value, ())
    assert record.position.timestamp is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"value": ..., "value_size": 7}, "run rpk without --meta-only"),
        ({"payload_2": "v"}, "unknown field `payload_2`"),
        ({"value": {"x": 1}}, "Expected `str"),
        ({"timestamp": "2023-11-14T22:13:20Z"}, "Expected `int`"),
        ({"headers": [{"key": "a", "value": "1", "more": 1}]}, "unknown field `more`"),
        ({"headers": ["a", "1"]}, "Expected `object`"),
        ({"partition": 2**31}, "at `$.partition`"),
        ({"partition": ...}, "missing required field `partition`"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_refused(write: Write, indent: int | None, changes: dict[str, Any], reason: str) -> None:
    """An object with more or less is an error that names it, never a record without a value."""
    path = write(printed(indent) + b"\n" + printed(indent, **changes))
    records = read(path)
    next(records)
    with pytest.raises(FramingError) as caught:
        next(records)
    assert (caught.value.path, caught.value.number) == (path, 1)
    assert caught.value.reason.startswith("the record is not what rpk topic consume prints (")
    assert reason in caught.value.reason
