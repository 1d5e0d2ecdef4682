"""The shapes in which each message is MessagePack: back to back, or each behind its length.

One of them is detected from the first message.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Final

import msgpack
import msgspec

from changewire.framing.record import Damage, Record, numbered
from changewire.framing.source import Source
from changewire.msgpack_heads import ARRAYS, NATURALS

_LENGTH_BYTES: Final = 4
_NULL: Final = -1
_LONGEST_EXT: Final = b"\xc9\xff\xff\xff\xff"
"""What msgpack takes, when it skips a value, for an extension type without bytes."""


def msgpack_concatenated(source: Source, limit: int) -> Iterator[Record]:
    """Yield the MessagePack values that are back to back.

    Raises:
        Damage: a value is longer than `limit` bytes, is not MessagePack or nested too deep, is cut
            off, or the source is damaged.
    """
    return numbered(source.path, _values(source, limit))


def msgpack_length_prefixed(source: Source, limit: int) -> Iterator[Record]:
    """Yield the messages that are each behind its length; the length -1 is that of no value.

    A length is 4 bytes, signed and big-endian, as ``%R`` of ``kcat -f`` writes it.

    Raises:
        Damage: a length is negative or more than `limit` bytes, a message is cut off, or the source
            is damaged.
    """
    return numbered(source.path, _prefixed(source, limit))


def _values(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    unpacker = msgpack.Unpacker(max_buffer_size=sys.maxsize)
    pending = bytearray()
    begin = 0
    for chunk in chunks:
        unpacker.feed(chunk)
        pending += chunk
        while _skipped(unpacker):
            size = unpacker.tell() - begin
            value = bytes(pending[:size])
            _check(value, begin, limit)
            yield value
            del pending[:size]
            begin += size
        if len(pending) > limit:
            raise _too_long(begin, limit)
    if pending:
        raise _cut_off(begin)


def _skipped(unpacker: msgpack.Unpacker) -> bool:
    """Go behind the next value; False where more bytes are needed."""
    try:
        unpacker.skip()
    except msgpack.OutOfData:
        return False
    except msgpack.StackError as error:
        raise Damage(
            f"the message is nested too deep at byte {unpacker.tell()}; take it out of the file"
        ) from error
    except msgpack.FormatError as error:
        reason = f"byte {unpacker.tell()} is not MessagePack; name the shape of the file"
        raise Damage(reason) from error
    return True


def _check(value: bytes, begin: int, limit: int) -> None:
    if len(value) > limit:
        raise _too_long(begin, limit)
    if _LONGEST_EXT in value:
        try:
            msgspec.msgpack.decode(value, type=msgspec.Raw)
        except msgspec.DecodeError as error:
            raise _cut_off(begin) from error


def _prefixed(chunks: Iterable[bytes], limit: int) -> Iterator[bytes | None]:
    pending = bytearray()
    begin = 0
    for chunk in chunks:
        pending += chunk
        while len(pending) >= _LENGTH_BYTES:
            size = _length(pending)
            if size > limit:
                raise _too_long(begin, limit)
            if size < _NULL:
                raise Damage(f"the length at byte {begin} is {size}; name the shape of the file")
            end = _LENGTH_BYTES + max(size, 0)
            if len(pending) < end:
                break
            yield None if size == _NULL else bytes(pending[_LENGTH_BYTES:end])
            del pending[:end]
            begin += end
    if pending:
        raise _cut_off(begin)


def _length(data: bytes | bytearray) -> int:
    return int.from_bytes(data[:_LENGTH_BYTES], "big", signed=True)


def _too_long(begin: int, limit: int) -> Damage:
    return Damage(
        f"the message that begins at byte {begin} is longer than {limit} bytes, or a length is"
        " false; if it really is one message, raise max_record_bytes"
    )


def _cut_off(begin: int) -> Damage:
    return Damage(
        f"the message that begins at byte {begin} is cut off, or a length in it is false; fetch"
        " the file again"
    )


def msgpack_shape(source: Source) -> str | None:
    """Return the shape of `source`, without consuming any of it; None if it is another one.

    JSON text and Parquet begin with none of these bytes. A message is an array that begins with an
    integer and has an array, or an array of arrays; what follows it is an array again.
    """
    first = source.peek(bool)[:1]
    if first == b"\x00":
        head = source.peek(lambda seen: len(seen) >= _end_of_prefixed(seen))
        message = head[_LENGTH_BYTES : _end_of_prefixed(head)]
        return (
            "msgpack-length-prefixed" if message and _first_size(message) == len(message) else None
        )
    if first and first[0] in ARRAYS:
        head = source.peek(lambda seen: _first_size(seen) != len(seen))
        size = _first_size(head)
        is_next_array = size == len(head) or head[size] in ARRAYS
        return "msgpack-concatenated" if size and is_next_array else None
    return None


def _end_of_prefixed(head: bytes) -> int:
    """Return where the first message ends, or the end of its length as long as that is cut off."""
    if len(head) < _LENGTH_BYTES:
        return _LENGTH_BYTES
    return _LENGTH_BYTES + int.from_bytes(head[:_LENGTH_BYTES], "big")


def _first_size(head: bytes) -> int:
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
