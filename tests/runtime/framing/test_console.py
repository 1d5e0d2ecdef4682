"""What the console consumer prints is read: keys, values, and where records stood."""

from collections.abc import Callable

import pytest

from changewire.framing import FramingError, Position, Record, read

Write = Callable[..., str]


def test_keys_and_values(write: Write) -> None:
    """A line is one record; the first TAB ends its key, and null stands for what is not there."""
    path = write(b'u-1\t{"a":\t1}\n\n["n","s"]\t[1]\r\nnull\t{}\n{"id":7}\tnull\n\t{}\nk\t')
    expected = [
        (b"u-1", b'{"a":\t1}'),
        (b'["n","s"]', b"[1]"),
        (None, b"{}"),
        (b'{"id":7}', None),
        (b"", b"{}"),
        (b"k", b""),
    ]
    for shape in ("console", "auto"):
        assert [*read(path, shape=shape)] == [
            Record(key, value, Position(path=path, number=number))
            for number, (key, value) in enumerate(expected)
        ]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (b"CreateTime:5\tPartition:2\tOffset:7\tk\t{}", (2, 7, 5)),
        (b"LogAppendTime:5\tk\t{}", (None, None, 5)),
        (b"NoTimestamp\tPartition:2\tk\t{}", (2, None, None)),
        (b"Offset:0\tk\t{}", (None, 0, None)),
    ],
)
def test_places(
    write: Write, line: bytes, place: tuple[int | None, int | None, int | None]
) -> None:
    """Timestamp, partition and offset are read where they are printed."""
    path, (partition, offset, timestamp) = write(line), place
    for shape in ("console", "auto"):
        (record,) = read(path, shape=shape)
        assert (record.key, record.value) == (b"k", b"{}")
        assert record.position == Position(None, partition, offset, timestamp, path, 0)


def test_bytes_are_as_they_were(write: Write) -> None:
    """Bytes that are no UTF-8 stay, and a mark of the byte order goes."""
    path = write(b"\xef\xbb\xbf\xff\x00\t{}\n")
    (record,) = read(path, shape="console")
    assert record.key == b"\xff\x00"


@pytest.mark.parametrize("bad", [b'{"a":1}', b"null", b"Offset:3\tk"])
def test_lines_without_key(write: Write, bad: bytes) -> None:
    """A line without TAB is an error that names the record, after the records before it."""
    path = write(b"k\t{}\n\n" + bad + b"\n")
    records = read(path)
    next(records)
    with pytest.raises(FramingError, match=r"record 1 .*no TAB between key and value; .*print.key"):
        next(records)
