"""Parquet files with the columns of a Kafka record, as Spark's Kafka source names them."""

import contextlib
import tempfile
from collections.abc import Callable, Generator, Iterator
from typing import IO, Any, Final, TypeAlias

from changewire.framing.inflate import require
from changewire.framing.record import Damage, FramingError, Position, Record, too_long
from changewire.framing.source import Source

ROWS_PER_BATCH: Final = 1024
_NO_TIMESTAMP: Final = -1
_Arrow: TypeAlias = Any  # the module pyarrow, or an object of it: it comes without types
_Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]


def parquet(source: Source, limit: int) -> Iterator[Record]:
    """Yield the record of every row.

    The column `value` is required; `key`, `topic`, `partition`, `offset`, `timestamp` and
    `headers` are used if they exist, other columns are not read. A compressed file, or standard
    input, is first copied to a temporary file, for Parquet is read from its end.

    Raises:
        FramingError: this is not Parquet, or a column is missing or of another type.
        Damage: a value is longer than `limit` bytes, or the source is damaged.
        ImportError: pyarrow is not installed.
    """
    arrow = require("pyarrow", purpose="reading Parquet")
    with _seekable(source) as file:
        for number, row in enumerate(_rows(arrow, file, source.path)):
            record = _record(row, source.path, number)
            if record.value is not None and len(record.value) > limit:
                raise too_long(limit)
            yield record


@contextlib.contextmanager
def _seekable(source: Source) -> Generator[str | IO[bytes], None, None]:
    if source.plain:
        yield source.path
        return
    with tempfile.TemporaryFile() as spool:
        for chunk in source:
            spool.write(chunk)
        spool.seek(0)
        yield spool


def _rows(arrow: _Arrow, file: str | IO[bytes], path: str) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of each row; None if the file has no such column."""
    try:
        table = require("pyarrow.parquet", purpose="reading Parquet").ParquetFile(
            file, coerce_int96_timestamp_unit="us"
        )
    except (OSError, arrow.ArrowException) as error:
        reason = f"this is not a Parquet file, or a damaged one ({error}); fetch the file again"
        raise FramingError(path, None, reason) from error
    with table:
        present = [name for name in _COLUMNS if name in table.schema_arrow.names]
        if "value" not in present:
            reason = "there is no column 'value'; rename the column that has the messages"
            raise FramingError(path, None, reason)
        for batch in _batches(arrow, table, present):
            columns = (_column(arrow, batch, name, path) for name in _COLUMNS)
            yield from zip(*columns, strict=True)


def _batches(arrow: _Arrow, table: _Arrow, columns: list[str]) -> Iterator[_Arrow]:
    try:
        yield from table.iter_batches(batch_size=ROWS_PER_BATCH, columns=columns)
    except (OSError, arrow.ArrowException) as error:
        raise Damage(f"the Parquet data is damaged here ({error}); fetch the file again") from error


def _column(arrow: _Arrow, batch: _Arrow, name: str, path: str) -> list[Any]:
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    column = batch.column(name)
    convert, expected = _COLUMNS[name]
    try:
        cells: list[Any] = convert(arrow, column).to_pylist()
    except arrow.ArrowException as error:
        reason = f"the column {name!r} is {column.type}; it must be {expected}"
        raise FramingError(path, None, reason) from error
    return [_headers(cell) for cell in cells] if name == "headers" else cells


def _record(row: tuple[Any, ...], path: str, number: int) -> Record:
    key, value, topic, partition, offset, timestamp, headers = row
    time = None if timestamp == _NO_TIMESTAMP else timestamp
    return Record(key, value, Position(topic, partition, offset, time, path, number), headers or ())


def _bytes(arrow: _Arrow, column: _Arrow) -> _Arrow:
    return column.cast(arrow.binary())


def _text(arrow: _Arrow, column: _Arrow) -> _Arrow:
    return column.cast(arrow.string())


def _integers(arrow: _Arrow, column: _Arrow) -> _Arrow:
    return column.cast(arrow.int64())


def _small_integers(arrow: _Arrow, column: _Arrow) -> _Arrow:
    return column.cast(arrow.int32())


def _milliseconds(arrow: _Arrow, column: _Arrow) -> _Arrow:
    if arrow.types.is_timestamp(column.type):
        column = column.cast(arrow.timestamp("ms", column.type.tz), safe=False)
    return _integers(arrow, column)


def _pairs(arrow: _Arrow, column: _Arrow) -> _Arrow:
    check_pairs(arrow, column.type)
    pair = arrow.struct([("key", arrow.string()), ("value", arrow.binary())])
    return column.cast(arrow.list_(pair))


def check_pairs(arrow: _Arrow, kind: _Arrow) -> None:
    """Raise an error of Arrow for headers with other fields, of which a cast makes NULL."""
    pair: Any = getattr(kind, "value_type", None)
    if pair is None or not arrow.types.is_struct(pair):
        return  # the cast raises
    if {field.name for field in pair} != {"key", "value"}:
        raise arrow.ArrowTypeError("the fields are not key and value")


def _headers(headers: list[dict[str, Any]] | None) -> _Headers | None:
    return None if headers is None else tuple((pair["key"], pair["value"]) for pair in headers)


# How a column becomes the type that a record has, and what to say when it cannot.
_COLUMNS: Final[dict[str, tuple[Callable[[_Arrow, _Arrow], _Arrow], str]]] = {
    "key": (_bytes, "binary or string"),
    "value": (_bytes, "binary or string"),
    "topic": (_text, "string"),
    "partition": (_small_integers, "integer of 32 bits"),
    "offset": (_integers, "integer"),
    "timestamp": (_milliseconds, "timestamp, or integer milliseconds"),
    "headers": (_pairs, "list<struct<key: string, value: binary>>"),
}
