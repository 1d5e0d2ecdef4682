"""Messages from wherever they are, as batches with the columns that are decoded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import pyarrow as pa

from changewire.engines.arrow.batches import BATCH_ROWS, batches
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.times import shown_times
from changewire.framing import Position, Record, expand
from changewire.framing.parquet import check_pairs
from changewire.framing.record import Lines
from changewire.framing.shapes import read_together

_STDIN: Final = "-"


@runtime_checkable
class ArrowStream(Protocol):
    """A table of any library that speaks Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the table as an Arrow stream."""
        ...


Messages: TypeAlias = (
    str
    | os.PathLike[str]
    | bytes
    | ArrowStream
    | Iterable[bytes | Record | str | os.PathLike[str] | None]
)
"""What is decoded: a file or folder; a message; a table with a column ``value``; or several files
and messages, as bytes, as None for a record without value, or as `changewire.framing.Record`."""


def opener(messages: Messages, shape: str) -> tuple[Callable[[], Iterator[pa.RecordBatch]], bool]:
    """Return what yields the batches of messages, and whether it can do so again."""
    if isinstance(messages, ArrowStream):
        is_lasting = not isinstance(messages, pa.RecordBatchReader)
        return lambda: _of_table(messages), is_lasting
    items: Any = [messages] if isinstance(messages, (str, bytes, os.PathLike)) else messages
    if not isinstance(items, Iterable):
        raise TypeError(f"expected files, messages or a table, not {type(messages).__name__}")
    is_stdin = isinstance(items, (list, tuple)) and _STDIN in items
    is_lasting = iter(items) is not items and not is_stdin
    return lambda: batches(_records(items, shape)), is_lasting


def _records(items: Iterable[Any], shape: str) -> Iterator[Record | Lines]:
    """Yield the records of files and messages; messages without a place are numbered."""
    for number, item in enumerate(items):
        if isinstance(item, Record):
            yield item
        elif item is None or isinstance(item, bytes):
            yield Record(None, item, Position(number=number))
        elif isinstance(item, (str, os.PathLike)):
            for path in expand([os.fspath(item)]):
                yield from read_together(path, shape=shape)
        else:
            raise TypeError(f"expected a file, bytes or a Record, not {type(item).__name__}")


def _of_table(table: ArrowStream) -> Iterator[pa.RecordBatch]:
    """Yield the columns of a table that are decoded, in short batches."""
    for batch in pa.RecordBatchReader.from_stream(table):
        names = [name for name in INPUT_COLUMNS if name in batch.schema.names]
        if "value" not in names:
            raise TypeError("expected a binary or string column 'value'")
        for start in range(0, len(batch), BATCH_ROWS):
            part = batch.slice(start, BATCH_ROWS)
            yield pa.RecordBatch.from_pydict({n: _conformed(n, part.column(n)) for n in names})


def _conformed(name: str, column: pa.Array) -> pa.Array:
    """Return a column of the type that is decoded."""
    kind = INPUT_COLUMNS[name]
    try:
        if pa.types.is_timestamp(kind):
            return shown_times(column)
        if pa.types.is_list(kind):
            check_pairs(pa, column.type)
        return column.cast(kind)
    except pa.ArrowException as error:
        raise TypeError(f"the column {name!r} is {column.type}; it must be {kind}") from error
