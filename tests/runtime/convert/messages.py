"""Messages of Aerospike that the tests of conversion use, and short names for the calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import msgpack

import changewire as cw

JSON: Final = "aerospike-json"
MSGPACK: Final = "aerospike-msgpack"
DIGEST: Final = b"abcdefghijklmnopqrst"
BASE64: Final = "YWJjZGVmZ2hpamtsbW5vcHFyc3Q="
KEY: Final[list[Any]] = ["ns", "set", DIGEST, None]


def packed(*bins: list[Any], user_key: Any = None) -> bytes:
    """Return a write in MessagePack with these bins: name, type, flags, value."""
    data: bytes = msgpack.packb([1, 1, [[*KEY[:3], user_key], 1, 0, 5, list(bins)]])
    return data


def packed_delete(*parts: Any) -> bytes:
    """Return a delete in MessagePack with what follows its key."""
    data: bytes = msgpack.packb([1, 2, [KEY, *parts]])
    return data


def text(*bins: dict[str, Any], **more: Any) -> bytes:
    """Return a write in JSON with these bins."""
    key = ["ns", "set", BASE64, None]
    message = {"msg": "write", "key": key, "gen": 1, "exp": 0, "lut": 5, "bins": bins}
    return json.dumps({**message, **more}).encode()


def text_delete(**more: Any) -> bytes:
    """Return a delete in JSON with what follows its key."""
    return json.dumps({"msg": "delete", "key": ["ns", "set", BASE64, None], **more}).encode()


def to_json(data: bytes, **options: Any) -> Any:
    """Return a message in MessagePack as parsed JSON."""
    return json.loads(cw.convert(data, source=MSGPACK, target=JSON, **options))


def to_msgpack(data: bytes, **options: Any) -> bytes:
    """Return a message in JSON as MessagePack."""
    return cw.convert(data, source=JSON, target=MSGPACK, **options)


def refusal(call: Callable[[], object]) -> cw.CodecError | None:
    """Return the error that a call ends with; None where there is none."""
    try:
        call()
    except cw.CodecError as error:
        return error
    return None
