"""Messages of the stand-in family as bytes, which msgpack writes: msgspec is what is tested."""

from typing import Any, Final

import msgpack
import tests.standin as family

from changewire.codec.codec import Codec
from changewire.codec.family import Family

CODEC: Final = Codec(Family(family))
DIGEST: Final = bytes(range(0x30, 0x44))
KEY: Final[list[Any]] = ["ns", "set", DIGEST, 1]


def pack(obj: Any) -> bytes:
    """Return the bytes of a plain value."""
    data: bytes = msgpack.packb(obj)
    return data


def write(*values: Any) -> list[Any]:
    """Return a write with a bin for each value."""
    return [1, 1, [KEY, 7, [["b", value] for value in values]]]


DELETE: Final = [1, 2, [KEY, 1]]


def holding(raw: bytes) -> bytes:
    """Return the bytes of a write with one bin, of which the value is these bytes."""
    return pack(write(None))[:-1] + raw


def value_in(data: bytes, codec: Codec = CODEC) -> Any:
    """Return the value of the one bin of a write."""
    (item,) = codec.decode(data).row.bins
    return item.value
