"""What ``kafka-console-consumer`` prints with ``print.key=true``: key, TAB and value on a line."""

import re
from collections.abc import Iterator
from typing import Final

from changewire.framing.record import Damage, Position, Record
from changewire.framing.scan import BLANK, Scanner
from changewire.framing.source import Source
from changewire.framing.text import lines

_NULL: Final = b"null"
_TAB: Final = b"\t"
_MARKS: Final = frozenset(b'{}[]"')
"""Bytes that text with JSON in it has, and other keys have not."""

# What print.timestamp, print.partition and print.offset put before the key.
_PLACE: Final = re.compile(
    rb"(?:(?:(?:CreateTime|LogAppendTime):(\d{1,18})|NoTimestamp)\t)?"
    rb"(?:Partition:(\d{1,9})\t)?(?:Offset:(\d{1,18})\t)?"
)


def console(source: Source, limit: int) -> Iterator[Record]:
    """Yield the Kafka record of every line that is not blank; ``null`` is no key, or no value.

    Raises:
        Damage: a line has no TAB or is longer than `limit` bytes, or the source is damaged.
    """
    number = 0
    for line in lines(source.text(), limit):
        if not line.strip(BLANK):
            continue
        timestamp, partition, offset, rest = _parts(line)
        key, tab, value = rest.partition(_TAB)
        if not tab:
            raise Damage(
                "the line has no TAB between key and value; print both (print.key=true), or name"
                " the shape"
            )
        position = Position(None, partition, offset, timestamp, source.path, number)
        yield Record(_bytes(key), _bytes(value), position)
        number += 1


def is_console(line: bytes) -> bool:
    """Return whether a line is a key, a TAB, and one value that is JSON and no scalar, or null."""
    *_, rest = _parts(line)
    key, tab, value = rest.partition(_TAB)
    if not tab or not key.strip(BLANK):
        return False
    if not _MARKS.isdisjoint(key) and _values(key) != (1, False):
        return False
    is_json = value.lstrip(BLANK).startswith((b"{", b"["))
    return value.strip(BLANK) == _NULL or (is_json and sum(_values(value)) == 1)


def _parts(line: bytes) -> tuple[int | None, int | None, int | None, bytes]:
    """Return timestamp, partition and offset, as far as the line has them, and what follows."""
    found = _PLACE.match(line)
    numbers = found.groups() if found else (None, None, None)
    timestamp, partition, offset = (None if digits is None else int(digits) for digits in numbers)
    return timestamp, partition, offset, line[found.end() :] if found else line


def _values(text: bytes) -> tuple[int, bool]:
    """Return how many JSON values are complete in a text, and whether another one has begun."""
    scanner = Scanner()
    return len(scanner.feed(text)), bool(scanner.pending)


def _bytes(text: bytes) -> bytes | None:
    return None if text == _NULL else text
