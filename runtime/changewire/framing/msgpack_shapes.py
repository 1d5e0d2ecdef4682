"""Whether an input is certainly MessagePack, and its shape, detected from its first message."""

from typing import Final

import msgpack

from changewire.framing.source import Source
from changewire.msgpack_heads import ARRAYS, NATURALS

_LENGTH_BYTES: Final = 4


def msgpack_shape(source: Source) -> str | None:
    """Return the shape of `source`, without consuming any of it; None where it is another one.

    JSON text and Parquet begin with none of these bytes. A message is an array that begins with an
    integer and holds an array, or an array of arrays; what follows it is an array again.
    """
    first = source.peek(bool)[:1]
    if first == b"\x00":
        head = source.peek(lambda seen: len(seen) >= _end_of_prefixed(seen))
        message = head[_LENGTH_BYTES : _end_of_prefixed(head)]
        return "msgpack-length-prefixed" if message and _size(message) == len(message) else None
    if first and first[0] in ARRAYS:
        head = source.peek(lambda seen: _size(seen) != len(seen))
        size = _size(head)
        is_next_array = size == len(head) or head[size] in ARRAYS
        return "msgpack-concatenated" if size and is_next_array else None
    return None


def _end_of_prefixed(head: bytes) -> int:
    """Return where the first message ends, or where its length does as long as that is cut off."""
    if len(head) < _LENGTH_BYTES:
        return _LENGTH_BYTES
    return _LENGTH_BYTES + int.from_bytes(head[:_LENGTH_BYTES], "big")


def _size(head: bytes) -> int:
    """Return the length of the first message: all of it if it is cut off, 0 if it is not one."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(head)
    holds_array = False
    try:
        for i in range(unpacker.read_array_header()):
            lead = head[unpacker.tell()]
            if lead in ARRAYS:
                holds_array = True
            elif i == 0 and lead not in NATURALS:
                return 0
            unpacker.skip()
    except (msgpack.OutOfData, IndexError):
        return len(head)
    except ValueError:  # it is no array, or no MessagePack
        return 0
    return unpacker.tell() if holds_array else 0
