"""What ``kafka-console-consumer`` prints: a line for each Kafka record, with TABs between parts.

The first line says which parts there are: after time, partition and offset, which name themselves,
headers and key, or one of them, or neither. A line alone does not say whether ``a:b`` is a header
or a key.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from changewire.framing.record import Damage, Position, Record
from changewire.framing.scan import BLANK, Scanner
from changewire.framing.source import Source
from changewire.framing.text import lines

_NULL: Final = b"null"
_NO_HEADERS: Final = b"NO_HEADERS"
_TAB: Final = b"\t"
_MARKS: Final = frozenset(b'{}[]"')
"""Bytes that text with JSON in it has, and other keys have not."""

# What print.timestamp, print.partition, print.offset and print.delivery put before headers and key.
_PLACE: Final = re.compile(
    rb"(?:(?:(?:CreateTime|LogAppendTime):(\d{1,18})|NO_TIMESTAMP)\t)?"
    rb"(?:Partition:(\d{1,9})\t)?(?:Offset:(\d{1,18})\t)?(?:Delivery:(?:\d{1,9}|NONE)\t)?"
)
_NAME: Final = rb'[^\s:,"{}\[\]]+:'
_HEADERS: Final = re.compile(_NAME)
_BETWEEN: Final = re.compile(rb",(?=" + _NAME + rb")")


class _Parts(NamedTuple):
    """Which parts lines have before the value."""

    headers: bool
    key: bool

    def __str__(self) -> str:
        names = [name for name, is_there in zip(self._fields, self, strict=True) if is_there]
        return ", ".join([*names, "value"])


_KEYED: Final = _Parts(headers=False, key=True)


def console(source: Source, limit: int) -> Iterator[Record]:
    """Yield the Kafka record of every line that is not blank; ``null`` is no key, or no value.

    Raises:
        Damage: a line lacks parts that the first one has, or has headers and the first one does
            not, or is longer than `limit` bytes, or the source is damaged.
    """
    parts = _parts(_placed(source.first_lines(1)[0])[-1]) or _KEYED
    kept = (line for line in lines(source.text(), limit) if line.strip(BLANK))
    for number, line in enumerate(kept):
        timestamp, partition, offset, rest = _placed(line)
        fields = rest.split(_TAB, sum(parts))
        if len(fields) <= sum(parts):
            raise Damage(
                f"the line has no TAB between its parts, which are those of the first line: "
                f"{parts}; print the same parts of each record, or name the shape"
            )
        if fields[0] == _NO_HEADERS and not parts.headers and len(fields) > 1:
            raise Damage(
                "the line has headers, and those of the first line are taken for its key; print"
                " both, with print.headers=true and print.key=true"
            )
        headers = tuple(_headers(fields[0])) if parts.headers else ()
        key = _bytes(fields[-2]) if parts.key else None
        position = Position(None, partition, offset, timestamp, source.path, number)
        yield Record(key, _bytes(fields[-1]), position, headers)


def is_console(line: bytes) -> bool:
    """Return whether a line has parts before one value that is JSON and no scalar, or null.

    Raises:
        Damage: the only part may be a key, and headers as well.
    """
    *_, rest = _placed(line)
    parts = _parts(rest)
    if parts is None:
        return False
    if parts == _KEYED and _HEADERS.match(rest):
        raise Damage(
            "the part before the value may be the key, and headers as well; name the shape console"
            " if it is the key, or print headers and key, with print.headers=true and"
            " print.key=true"
        )
    return any(parts) or line != rest


def _placed(line: bytes) -> tuple[int | None, int | None, int | None, bytes]:
    """Return timestamp, partition and offset, as far as the line has them, and what follows."""
    found = _PLACE.match(line)
    numbers = found.groups() if found else (None, None, None)
    timestamp, partition, offset = (None if digits is None else int(digits) for digits in numbers)
    return timestamp, partition, offset, line[found.end() :] if found else line


def _parts(rest: bytes) -> _Parts | None:
    """Return which parts a line has before the value; None if there is no such value."""
    if _is_value(rest):
        return _Parts(headers=False, key=False)
    first, tab, rest = rest.partition(_TAB)
    if tab and _is_value(rest):
        if first == _NO_HEADERS:
            return _Parts(headers=True, key=False)
        return _KEYED if _is_key(first) else None
    key, tab, rest = rest.partition(_TAB)
    is_whole = tab and _is_value(rest) and _is_key(key)
    return _Parts(headers=True, key=True) if is_whole and _are_headers(first) else None


def _is_value(text: bytes) -> bool:
    is_json = text.lstrip(BLANK).startswith((b"{", b"["))
    return text.strip(BLANK) == _NULL or (is_json and sum(_values(text)) == 1)


def _is_key(text: bytes) -> bool:
    is_bare = _MARKS.isdisjoint(text)
    return bool(text.strip(BLANK)) and (is_bare or _values(text) == (1, False))


def _are_headers(text: bytes) -> bool:
    return text == _NO_HEADERS or bool(_HEADERS.match(text))


def _values(text: bytes) -> tuple[int, bool]:
    """Return how many JSON values are complete in a text, and whether another one has begun."""
    scanner = Scanner()
    return len(scanner.feed(text)), bool(scanner.pending)


def _headers(text: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Yield name and value of each header; a comma before no name is part of a value."""
    if text == _NO_HEADERS:
        return
    for header in _BETWEEN.split(text):
        name, colon, value = header.partition(b":")
        if not colon:
            raise Damage("the part of the headers is neither name:value nor NO_HEADERS; correct it")
        yield name.decode("utf-8", "backslashreplace"), _bytes(value)


def _bytes(text: bytes) -> bytes | None:
    return None if text == _NULL else text
