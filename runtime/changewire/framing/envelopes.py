"""What command line tools print of Kafka records: JSON objects, on a line each or over several."""

import json
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar

import msgspec

from changewire.framing.record import Damage, Record
from changewire.framing.scan import BLANK, Scanner
from changewire.framing.source import Source
from changewire.framing.text import lines, values

T = TypeVar("T")
_NO_TIMESTAMP: Final = -1


class Printed(NamedTuple):
    """What surrounds the record that an object shows.

    Attributes:
        path: path of the file.
        number: number of the record in that file, counted from 0.
    """

    path: str
    number: int


def records(
    source: Source, limit: int, tool: str, shape: type[T], record: Callable[[T, Printed], Record]
) -> Iterator[Record]:
    """Yield the Kafka record of every object that a tool printed; `record` makes it.

    Raises:
        Damage: a value is not such an object or is longer than `limit` bytes, or the source is
            damaged.
    """
    for number, text in enumerate(_texts(source, limit)):
        try:
            found = record(parse(text, shape), Printed(source.path, number))
        except ValueError as error:
            raise Damage(
                f"the record is not what {tool} prints ({error}); correct it, or name the shape"
            ) from error
        yield found


def _texts(source: Source, limit: int) -> Iterator[bytes]:
    """Return lines if the first one is a whole value, which is quicker, or values."""
    scanner = Scanner()
    if len(scanner.feed(source.first_lines(1)[0])) == 1 and not scanner.pending:
        return (line for line in lines(source.text(), limit) if line.strip(BLANK))
    return values(source.text(), limit)


def parse(text: bytes, shape: type[T]) -> T:
    """Return JSON, in which kcat left bytes that are not UTF-8 as they are, as a `shape`.

    Such a byte becomes a surrogate, which ``surrogateescape`` turns into the byte again.

    Raises:
        ValueError: the text is not JSON, or not of this shape.
    """
    try:
        try:
            return msgspec.json.decode(text, type=shape)
        except UnicodeDecodeError:
            return msgspec.convert(json.loads(text.decode("utf-8", "surrogateescape")), type=shape)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def has_keys(text: bytes, *names: str) -> bool:
    """Return whether a text is a JSON object that has some keys, and maybe others."""
    try:
        return parse(text, dict[str, object]).keys() >= {*names}
    except ValueError:
        return False


def to_bytes(text: str | None) -> bytes | None:
    """Return the bytes that a text shows; None without one.

    Raises:
        ValueError: it has half a surrogate pair.
    """
    if text is None:
        return None
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError("its text has half a surrogate pair") from error


def to_timestamp(timestamp: int | None) -> int | None:
    """Return a Kafka timestamp as `Position` has it."""
    return None if timestamp == _NO_TIMESTAMP else timestamp
