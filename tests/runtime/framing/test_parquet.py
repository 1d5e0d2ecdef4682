"""Parquet files as Spark's Kafka source writes them."""

import datetime as dt
import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from changewire.framing import FramingError, Position, Record, parquet, read

pa: Any = import_module("pyarrow")  # its types are not all known
pq: Any = import_module("pyarrow.parquet")
Write = Callable[..., str]
MOMENT = dt.datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=dt.timezone.utc)
MILLISECONDS = 1700000000123
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
COLUMNS: dict[str, Any] = {
    "key": pa.array([b"k", None], pa.binary()),
    "value": pa.array([b"\xff", None], pa.binary()),
    "topic": pa.array(["orders", "orders"]),
    "partition": pa.array([0, 1], pa.int32()),
    "offset": pa.array([7, 8], pa.int64()),
    "timestamp": pa.array([MOMENT, None], pa.timestamp("us", "UTC")),
    "timestampType": pa.array([0, 0], pa.int32()),
    "headers": pa.array(
        [[{"key": "h", "value": b"1"}, {"key": "n", "value": None}], None], HEADERS
    ),
}


def file(columns: dict[str, Any], **options: Any) -> bytes:
    """Return a Parquet file with these columns."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return out.getvalue()


def expected(path: str) -> list[Record]:
    """Return the records of a file with `COLUMNS`."""
    return [
        Record(
            b"k",
            b"\xff",
            Position("orders", 0, 7, MILLISECONDS, path, 0),
            (("h", b"1"), ("n", None)),
        ),
        Record(None, None, Position("orders", 1, 8, None, path, 1)),
    ]


@pytest.mark.parametrize("shape", ["parquet", "auto"])
def test_record(write: Write, shape: str) -> None:
    """Every row is a record; columns that a Kafka record does not have are ignored."""
    path = write(file(COLUMNS))
    assert list(read(path, shape=shape)) == expected(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_stdin(stdin: Callable[[bytes], None], pack: Callable[[bytes], bytes]) -> None:
    """Standard input may be Parquet, compressed once more or not."""
    stdin(pack(file(COLUMNS)))
    assert list(read("-")) == expected("-")


def test_compressed(write: Write) -> None:
    """A Parquet file may be compressed as a whole."""
    path = write(gzip.compress(file(COLUMNS)))
    assert list(read(path)) == expected(path)


@pytest.mark.parametrize(
    "kind",
    [pa.binary(), pa.large_binary(), pa.string(), pa.large_string(), pa.binary_view()],
    ids=str,
)
def test_value_only(write: Write, kind: Any) -> None:
    """A column `value` of any binary or string type is enough."""
    path = write(file({"value": pa.array(["é", None, ""], pa.string()).cast(kind)}))
    assert [(r.key, r.value, r.headers) for r in read(path)] == [
        (None, "é".encode(), ()),
        (None, None, ()),
        (None, b"", ()),
    ]


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (pa.array([MILLISECONDS, -1, None]), {}),
        (pa.array([MOMENT, None, None], pa.timestamp("ms", "UTC")), {}),
        (pa.array([MOMENT, None, None], pa.timestamp("ns", "Asia/Shanghai")), {}),
        (pa.array([MOMENT.replace(tzinfo=None), None, None], pa.timestamp("us")), {}),
        (pa.array([MOMENT, None, None]), {"use_deprecated_int96_timestamps": True}),
    ],
)
def test_timestamp(write: Write, column: Any, options: dict[str, Any]) -> None:
    """A timestamp is an Arrow timestamp of any unit, or integer milliseconds; -1 is none."""
    path = write(file({"value": pa.array([b"", b"", b""]), "timestamp": column}, **options))
    assert [r.position.timestamp for r in read(path)] == [MILLISECONDS, None, None]


def test_batches(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are numbered through row groups and batches."""
    monkeypatch.setattr(parquet, "ROWS_PER_BATCH", 3)
    path = write(file({"value": pa.array([b"%d" % n for n in range(20)])}, row_group_size=7))
    assert [(r.value, r.position.number) for r in read(path)] == [(b"%d" % n, n) for n in range(20)]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"payload": pa.array([b""])}, "no column 'value'"),
        ({"value": pa.array([1])}, "column 'value' is int64; it must be binary or string"),
        ({"value": pa.array([b""]), "key": pa.array([[1]])}, "'key' is list"),
        ({"value": pa.array([b""]), "offset": pa.array([0.5])}, "it must be integer"),
        ({"value": pa.array([b""]), "partition": pa.array([2**31])}, "it must be integer of 32"),
        ({"value": pa.array([b""]), "timestamp": pa.array(["soon"])}, "it must be timestamp"),
        ({"value": pa.array([b""]), "headers": pa.array(["a"])}, "it must be list<struct"),
        (
            {"value": pa.array([b""]), "headers": pa.array([[{"name": "h"}]])},
            "it must be list<struct<key: string",
        ),
    ],
)
def test_columns_refused(write: Write, columns: dict[str, Any], reason: str) -> None:
    """A missing or wrongly typed column is an error that says what it must be."""
    path = write(file(columns))
    with pytest.raises(FramingError) as caught:
        list(read(path))
    assert (caught.value.path, caught.value.number) == (path, None)
    assert reason in caught.value.reason


@pytest.mark.parametrize("data", [b"PAR1", b"PAR1 and then nothing of the kind PAR1", b""])
def test_no_parquet(write: Write, data: bytes) -> None:
    """What is not a whole Parquet file is an error."""
    with pytest.raises(FramingError, match="not a Parquet file"):
        list(read(write(data), shape="parquet"))


def test_damaged_page(write: Write) -> None:
    """Records before a damaged row group are handed out."""
    values = [b"%05d" % n for n in range(2000)]
    options: dict[str, Any] = {"compression": "gzip", "use_dictionary": False}
    data = bytearray(file({"value": pa.array(values)}, row_group_size=1000, **options))
    middle = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(1).column(0).data_page_offset
    data[middle : middle + 60] = b"\xff" * 60
    path = write(bytes(data))
    read_before: list[bytes | None] = []
    with pytest.raises(FramingError, match="damaged here") as caught:
        read_before.extend(record.value for record in read(path))
    assert read_before == values[: len(read_before)]
    assert caught.value.number == len(read_before)


def test_limit(write: Write) -> None:
    """A value longer than `max_record_bytes` is an error."""
    with pytest.raises(FramingError, match="longer than 2 bytes") as caught:
        list(read(write(file({"value": pa.array([b"12", b"123"])})), max_record_bytes=2))
    assert caught.value.number == 1


@pytest.mark.parametrize("purpose", ["parquet", "zstd"])
def test_without_pyarrow(write: Write, monkeypatch: pytest.MonkeyPatch, purpose: str) -> None:
    """Without pyarrow, Parquet and zstd raise an error that names the extra to install."""
    path = write(b"PAR1" if purpose == "parquet" else b"\x28\xb5\x2f\xfd")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "\./changewire\[cli\]"'):
        list(read(path))


def test_pyarrow_is_lazy(write: Write) -> None:
    """Reading JSON does not import pyarrow."""
    program = (
        "import sys; from changewire.framing import read; list(read(sys.argv[1]));"
        "assert 'pyarrow' not in sys.modules"
    )
    command = [sys.executable, "-c", program, write(b"{}\n")]
    paths = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    subprocess.run(command, check=True, env=paths)
