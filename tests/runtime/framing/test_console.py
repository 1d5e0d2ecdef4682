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
        (b"NO_TIMESTAMP\tPartition:2\tk\t{}", (2, None, None)),
        (b"Offset:0\tk\t{}", (None, 0, None)),
        (b"Offset:0\tDelivery:1\tk\t{}", (None, 0, None)),
        (b"Partition:1\tDelivery:NONE\tk\t{}", (1, None, None)),
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


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (b"NO_HEADERS", ()),
        (b"a:1", (("a", b"1"),)),
        (b"a:1,b:,a:null", (("a", b"1"), ("b", b""), ("a", None))),
        (b"trace-id:x:y,z,w,ce_time:2020-01-01T00:00:00Z", None),
        (b'a:{"x":1,"y":[2,3]},b:2', (("a", b'{"x":1,"y":[2,3]}'), ("b", b"2"))),
        (b"\xff:\xff", (("\\xff", b"\xff"),)),
    ],
)
def test_headers(
    write: Write, headers: bytes, expected: tuple[tuple[str, bytes | None], ...] | None
) -> None:
    """Headers stand before the key; what follows a comma is one if it begins with a name."""
    if expected is None:
        expected = (("trace-id", b"x:y,z,w"), ("ce_time", b"2020-01-01T00:00:00Z"))
    path = write(
        b"CreateTime:5\t" + headers + b'\ta:b\t{"a":\t1}\nNO_TIMESTAMP\tNO_HEADERS\tk\tnull'
    )
    for shape in ("console", "auto"):
        assert [*read(path, shape=shape)] == [
            Record(b"a:b", b'{"a":\t1}', Position(timestamp=5, path=path, number=0), expected),
            Record(b"k", None, Position(path=path, number=1)),
        ]


def test_headers_without_keys(write: Write) -> None:
    """A first record without headers says that there are headers, and are not keys."""
    path = write(b"NO_HEADERS\t{}\na:1\tnull\n")
    for shape in ("console", "auto"):
        found = [(one.key, one.value, one.headers) for one in read(path, shape=shape)]
        assert found == [(None, b"{}", ()), (None, None, (("a", b"1"),))]


def test_values_alone(write: Write) -> None:
    """Without keys, a line is a place and the value; without places, lines of JSON."""
    path = write(b'Partition:0\tOffset:1\t{"a":\t1}\nPartition:0\tOffset:2\tnull\n')
    for shape in ("console", "auto"):
        assert [*read(path, shape=shape)] == [
            Record(None, b'{"a":\t1}', Position(None, 0, 1, path=path, number=0)),
            Record(None, None, Position(None, 0, 2, path=path, number=1)),
        ]
    assert [one.value for one in read(write(b"{}\n[1]\n"), shape="console")] == [b"{}", b"[1]"]


def test_a_key_that_may_be_headers(write: Write) -> None:
    """A part with a colon may be either, so the shape must be named, and then it is the key."""
    path = write(b"user:1\t{}\nuser:2\t{}\n")
    with pytest.raises(FramingError, match=r"may be the key, and headers as well; name the shape"):
        next(read(path))
    assert [one.key for one in read(path, shape="console")] == [b"user:1", b"user:2"]


def test_headers_taken_for_keys(write: Write) -> None:
    """A later record without headers shows that they are not keys, which is an error."""
    records = read(write(b"a:1\t{}\nNO_HEADERS\t{}\n"), shape="console")
    next(records)
    with pytest.raises(FramingError, match=r"record 1 .*the line has headers, and .*print both"):
        next(records)


def test_parts_that_are_no_headers(write: Write) -> None:
    """A line whose first part is not a header is an error, not a record with other parts."""
    records = read(write(b"NO_HEADERS\tk\t{}\nk\tv\t{}\n"))
    next(records)
    with pytest.raises(FramingError, match=r"record 1 .*neither name:value nor NO_HEADERS"):
        next(records)


def test_a_damaged_value(write: Write) -> None:
    """A value that is not JSON is kept as it is, after the same parts as in other lines."""
    path = write(b'a:1\tk\t{}\na:1\tk\t{"a":\nNO_HEADERS\tk\toops\n')
    assert [(one.key, one.value) for one in read(path)] == [
        (b"k", b"{}"),
        (b"k", b'{"a":'),
        (b"k", b"oops"),
    ]


@pytest.mark.parametrize("bad", [b'{"a":1}', b"null", b"Offset:3\tk"])
def test_lines_without_key(write: Write, bad: bytes) -> None:
    """A line that lacks a part is an error that names the record, after the records before it."""
    path = write(b"k\t{}\n\n" + bad + b"\n")
    records = read(path)
    next(records)
    with pytest.raises(FramingError, match=r"record 1 .*no TAB between its parts, .*: key, value;"):
        next(records)
