"""The shapes in which each message is a piece of JSON text."""

from collections.abc import Iterator

from changewire.framing.record import Record, numbered
from changewire.framing.scan import BLANK
from changewire.framing.source import Source
from changewire.framing.split import elements, lines, values


def json_lines(source: Source, limit: int) -> Iterator[Record]:
    """Yield every line that is not blank, verbatim.

    Raises:
        Damage: a line is longer than `limit` bytes, or the source is damaged.
    """
    every = lines(source.text(), limit)
    return numbered(source.path, (line for line in every if line.strip(BLANK)))


def json_array(source: Source, limit: int) -> Iterator[Record]:
    """Yield the elements of the one JSON array that the source is.

    Raises:
        Damage: an element is longer than `limit` bytes, there is no array, it is cut off between
            two elements, or the source is damaged.
    """
    return numbered(source.path, elements(source.text(), limit))


def json_concatenated(source: Source, limit: int) -> Iterator[Record]:
    """Yield the JSON values that stand back to back, with or without blanks between.

    Raises:
        Damage: a value is longer than `limit` bytes, or the source is damaged.
    """
    return numbered(source.path, values(source.text(), limit))
