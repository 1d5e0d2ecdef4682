"""Messages in MessagePack as bytes, which msgpack writes: msgspec is what is tested."""

from typing import Any, Final

import msgpack

import changewire as cw

CODEC: Final = cw.codec("aerospike-msgpack")
ANY_VALUE: Final = 99
"""A type of bins that the schema does not know, so that they hold any value."""
BIN: Final = "/2/4/0/3"
"""JSON Pointer to the value of the first bin."""
DIGEST: Final = bytes(range(0x30, 0x44))
KEY: Final[list[Any]] = ["ns", "set", DIGEST, 1]


def pack(obj: Any) -> bytes:
    """Return the bytes of a plain value."""
    data: bytes = msgpack.packb(obj)
    return data


def write(*values: Any) -> list[Any]:
    """Return a write with a bin for each value."""
    return [1, 1, [KEY, 7, 0, 5, [["b", ANY_VALUE, 0, value] for value in values]]]


DELETE: Final = [1, 2, [KEY, 1]]


def holding(raw: bytes) -> bytes:
    """Return the bytes of a write with one bin, of which the value is these bytes."""
    return pack(write(None))[:-1] + raw


def value_in(data: bytes, codec: cw.Codec = CODEC) -> Any:
    """Return the value of the one bin of a write."""
    (item,) = codec.decode(data).payload.bins
    return item.value
