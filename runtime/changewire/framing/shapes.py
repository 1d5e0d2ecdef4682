"""The shapes an input can have, and reading of one."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from changewire.framing.console import console
from changewire.framing.detect import detect
from changewire.framing.parquet import parquet
from changewire.framing.record import Damage, FramingError, Lines, Record
from changewire.framing.source import Source, opened
from changewire.framing.text import json_array, json_concatenated, json_lines
from changewire.framing.tools import kcat, rpk


def _msgpack_concatenated(source: Source, limit: int) -> Iterator[Record]:
    from changewire.framing.messagepack import msgpack_concatenated

    return msgpack_concatenated(source, limit)


def _msgpack_length_prefixed(source: Source, limit: int) -> Iterator[Record]:
    from changewire.framing.messagepack import msgpack_length_prefixed

    return msgpack_length_prefixed(source, limit)


_READERS: Final[dict[str, Callable[[Source, int], Iterator[Record | Lines]]]] = {
    "json-lines": json_lines,
    "json-array": json_array,
    "json-concatenated": json_concatenated,
    "kcat": kcat,
    "rpk": rpk,
    "console": console,
    "msgpack-concatenated": _msgpack_concatenated,
    "msgpack-length-prefixed": _msgpack_length_prefixed,
    "parquet": parquet,
}
SHAPES: Final[tuple[str, ...]] = tuple(_READERS)
AUTO: Final = "auto"


def read(path: str, *, shape: str = AUTO, max_record_bytes: int = 128 * 2**20) -> Iterator[Record]:
    """Yield the records of the file at `path` (``-`` is standard input), in their order.

    No message is interpreted: a damaged one is a record too. Every byte that is not blank is part
    of exactly one record, save what the shape itself is made of, such as the brackets around a
    JSON array or a length, and a UTF-8 byte order mark. Gzip and zstd files are recognised by
    their content. The file is opened with the first record and read in chunks; at no time more
    than a few chunks and one record are in memory.

    Args:
        path: path of the file.
        shape: one of `SHAPES`, or ``auto`` to tell it from the first line or message.
        max_record_bytes: the most bytes a record may have.

    Raises:
        ValueError: there is no such shape.
        FramingError: while iterating, after the records before the damage: the file cannot be
            read, or not further.
        ImportError: while iterating: the file is Parquet or zstd and pyarrow is not installed.
    """
    found = read_together(path, shape=shape, max_record_bytes=max_record_bytes)
    return chain.from_iterable(one.records() if isinstance(one, Lines) else (one,) for one in found)


def read_together(
    path: str, *, shape: str = AUTO, max_record_bytes: int = 128 * 2**20
) -> Iterator[Record | Lines]:
    """Yield the records of a file as `read` does, but lines that were read together as `Lines`.

    It takes and raises what `read` does.
    """
    if shape != AUTO and shape not in _READERS:
        raise ValueError(f"there is no shape {shape!r}; choose auto, {', '.join(SHAPES)}")
    return _found(path, shape, max_record_bytes)


def _found(path: str, shape: str, limit: int) -> Iterator[Record | Lines]:
    number = 0
    with opened(path) as source:
        try:
            reader = _READERS[detect(source) if shape == AUTO else shape]
            for found in reader(source, limit):
                yield found
                number += len(found.values) if isinstance(found, Lines) else 1
        except Damage as damage:
            raise FramingError(path, number, str(damage)) from damage.__cause__
