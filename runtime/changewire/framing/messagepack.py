"""The shapes in which each message is MessagePack: back to back, or each behind its length."""

import sys
from collections.abc import Iterable, Iterator
from typing import Final

import msgpack
import msgspec

from changewire.framing.record import Damage, Record, numbered
from changewire.framing.source import Source

_LENGTH_BYTES: Final = 4
_NULL: Final = -1
_LONGEST_EXT: Final = b"\xc9\xff\xff\xff\xff"
"""What msgpack takes, when it skips a value, for an extension type without bytes."""


def msgpack_concatenated(source: Source, limit: int) -> Iterator[Record]:
    """Yield the MessagePack values that stand back to back.

    Raises:
        Damage: a value is longer than `limit` bytes, is no MessagePack or nested too deep, is cut
            off, or the source is damaged.
    """
    return numbered(source.path, _values(source, limit))


def msgpack_length_prefixed(source: Source, limit: int) -> Iterator[Record]:
    """Yield the messages that stand each behind its length; the length -1 is that of no value.

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
        reason = (
            f"the message is nested too deep at byte {unpacker.tell()}; take it out of the file"
        )
        raise Damage(reason) from error
    except msgpack.FormatError as error:
        reason = f"byte {unpacker.tell()} is no MessagePack; name the shape of the file"
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
                reason = f"the length at byte {begin} is {size}; name the shape of the file"
                raise Damage(reason)
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
