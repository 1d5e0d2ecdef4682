"""Messages that no format claims: their codes, and the format that they come nearest to."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest
from tests.runtime.codec.formats import wire_of
from tests.runtime.codec.test_detect import single
from tests.samples import FORMAT, examples

import changewire as cw

WRITE: dict[str, Any] = examples("write")[0]
UPDATE: dict[str, Any] = {
    "schema": {
        "dataColumn": [{"name": "id", "type": "LONG"}],
        "primaryKey": ["id"],
        "source": None,
    },
    "payload": {
        "op": "INSERT",
        "after": {"dataColumn": {"id": 7}},
        "timestamp": {"eventTime": 1},
    },
    "version": "0.0.1",
}
PRIVATE = "private text"


def refusal(data: bytes | str) -> cw.DecodeError:
    """Return why a message without a named format is refused."""
    with pytest.raises(cw.DecodeError) as caught:
        cw.decode(data)
    return caught.value


def misspelt(message: dict[str, Any], name: str) -> str:
    """Return a message with one name misspelt."""
    return json.dumps({f"{key}x" if key == name else key: value for key, value in message.items()})


@pytest.mark.parametrize(
    ("message", "nearest"),
    [
        (misspelt(UPDATE, "version"), "dataworks-json, 1 issue: /version missing"),
        (misspelt(WRITE, "msg"), f"{FORMAT}, 1 issue: /msg missing"),
        (json.dumps([{**WRITE, "msg": PRIVATE}]), f"{FORMAT}, 1 issue: /0/msg unknown-variant"),
        (
            json.dumps({"schema": None, "payload": {"op": "c", "ts_ms": 1, "after": {}}}),
            "lindorm-json, 1 issue: /payload/source missing",
        ),
        (
            json.dumps([json.loads(misspelt(WRITE, "msg"))] * 5),
            f"{FORMAT}, 5 issues: /0/msg missing, /1/msg missing, /2/msg missing, 2 more",
        ),
    ],
)
def test_the_nearest_format_is_named_with_its_issues(message: str, nearest: str) -> None:
    """What has most properties of a format in common is held against it; no value is shown."""
    error = refusal(message)
    assert (error.code, error.format, error.pointer) == ("unknown-variant", "unknown", "")
    assert error.expected.endswith(f"; nearest: {nearest}")
    assert PRIVATE not in str(error)


def test_messagepack_is_held_against_its_positions() -> None:
    """An array as long as a message is compared position by position."""
    path = next(path for _, path in single("valid") if path.name == "message-delete-document.hex")
    message = msgpack.unpackb(wire_of(path), strict_map_key=False)
    message[1] = 7
    error = refusal(msgpack.packb(message))
    assert error.expected.endswith("; nearest: aerospike-msgpack, 1 issue: /1 unknown-variant")
    assert "nearest" not in refusal(msgpack.packb(["a"])).expected


@pytest.mark.parametrize(
    "message",
    [
        *("{}", "[]x", '{"event": "login", "user": 7}', '"text"', "3", "[1, 2]"),
        *("[5]", "[1.5]", "[null]", "[true]", '["text"]', "[[]]"),
    ],
)
def test_a_message_of_another_kind_is_near_to_no_format(message: str) -> None:
    """What has little in common with any format is not compared with one."""
    error = refusal(message)
    assert error.code != "internal-error"
    assert "nearest" not in error.expected


@pytest.mark.parametrize(
    ("data", "code", "byte_offset"),
    [
        (json.dumps(UPDATE)[:40].encode(), "truncated", 40),
        (json.dumps([WRITE])[:40].encode(), "truncated", 40),
        (msgpack.packb([1, 1, ["n"]])[:-1], "truncated", 5),
        (b"{'msg': 'write'}", "invalid-json", 1),
        (b"\xef\xbb\xbf{}", "invalid-unicode", 0),
        (b"", "empty", 0),
        (b"hello", "unknown-variant", 0),
        (b"\x00\x00\x00\x00\x07avro", "unknown-variant", 0),
    ],
)
def test_what_begins_as_a_message_has_the_code_of_the_parser(
    data: bytes, code: str, byte_offset: int
) -> None:
    """A damaged message is reported as that, other bytes as a message of no known kind."""
    error = refusal(data)
    assert (error.code, error.format, error.byte_offset) == (code, "unknown", byte_offset)
    assert cw.explain(data).issues[0].code == code
