"""Lines, arrays and concatenated values: where each message begins and ends."""

from collections.abc import Callable

import pytest

from changewire.framing import FramingError, Position, Record, read
from changewire.framing.record import Lines
from changewire.framing.shapes import read_together

Write = Callable[..., str]
Case = tuple[str, bytes, list[bytes]]
Cases = dict[str, tuple[bytes, list[bytes]]]


def messages(path: str, shape: str) -> list[bytes | None]:
    """Return the value of every record."""
    return [record.value for record in read(path, shape=shape)]


LINES: Cases = {
    "LF": (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
    "CRLF": (b'{"a":1}\r\n{"b":2}\r\n', [b'{"a":1}', b'{"b":2}']),
    "no end": (b'{"a":1}\n{"b":2}', [b'{"a":1}', b'{"b":2}']),
    "blank lines": (b"\n  \n\t\r\n1\n\n\n2\n \n", [b"1", b"2"]),
    "blanks kept": (b'  {"a": 1} \n', [b'  {"a": 1} ']),
    "a batch": (b"[1,2]\n[3]\n", [b"[1,2]", b"[3]"]),
    "damage": (b'{"a":\n\xff\xfe\x00\nnonsense\n', [b'{"a":', b"\xff\xfe\x00", b"nonsense"]),
    "a lone CR": (b"1\r2\n", [b"1\r2"]),
    "a byte order mark": (b"\xef\xbb\xbf1\n\xef\xbb\xbf2\n", [b"1", b"\xef\xbb\xbf2"]),
    "part of a mark": (b"\xef\xbb", [b"\xef\xbb"]),
    "nothing": (b"", []),
}
ARRAYS: Cases = {
    "compact": (b'[{"a":1},[2],"x",3,null]', [b'{"a":1}', b"[2]", b'"x"', b"3", b"null"]),
    "pretty": (b'[\n  {\n    "a": 1\n  },\n  2\n]\n', [b'{\n    "a": 1\n  }', b"2"]),
    "empty": (b" [ ] ", []),
    "nothing": (b" \n", []),
    "brackets in strings": (b'["]","{[", {"}": "["}]', [b'"]"', b'"{["', b'{"}": "["}']),
    "escapes": (rb'["\"]", {"a\\": "\\\"]}"}]', [rb'"\"]"', rb'{"a\\": "\\\"]}"}']),
    "a byte order mark": (b"\xef\xbb\xbf[1]", [b"1"]),
    "deep": (b"[" + b"[" * 3000 + b"]" * 3000 + b"]", [b"[" * 3000 + b"]" * 3000]),
    "an open element": (b'[{"a":1},{"b":[', [b'{"a":1}', b'{"b":[']),
    "an open string": (b'[1,"abc', [b"1", b'"abc']),
    "an open escape": (b'[1,"abc\\', [b"1", b'"abc\\']),
    "junk": (b'[{"a":1} oops {"b":2}, }, 3x]', [b'{"a":1}', b"oops", b'{"b":2}', b"}", b"3x"]),
    "no comma": (b'[{"a":1}{"b":2}]', [b'{"a":1}', b'{"b":2}']),
    "more after it": (b'[1] ,{"a":2}]x', [b"1", b",", b'{"a":2}', b"]", b"x"]),
    "unpaired brackets": (b'[{"a":[1},2]]', [b'{"a":[1},2]']),
}
CONCATENATED: Cases = {
    "compact": (b'{"a":1}{"b":{}}[3]', [b'{"a":1}', b'{"b":{}}', b"[3]"]),
    "pretty": (b'{\n  "a": 1\n}\n\n\t{\r\n}\r\n', [b'{\n  "a": 1\n}', b"{\r\n}"]),
    "scalars": (b'1 -2.5e3\ntrue"x""y"null[4]5', b'1|-2.5e3|true|"x"|"y"|null|[4]|5'.split(b"|")),
    "brackets in strings": (b'{"}":"]["}{"a":"\\"}"}', [b'{"}":"]["}', b'{"a":"\\"}"}']),
    "commas": (b'{"a":1},{"b":2}', [b'{"a":1}', b",", b'{"b":2}']),
    "stray brackets": (b'{"a":1}]}{}', [b'{"a":1}', b"]", b"}", b"{}"]),
    "an open rest": (b'{"a":1}{"b":"{}', [b'{"a":1}', b'{"b":"{}']),
    "bytes that are not text": (b'{"a":"\xff"}\x00{}', [b'{"a":"\xff"}', b"\x00", b"{}"]),
    "nothing": (b"", []),
}
CASES = [
    pytest.param((shape, data, expected), id=f"{shape}: {name}")
    for shape, cases in (
        ("json-lines", LINES),
        ("json-array", ARRAYS),
        ("json-concatenated", CONCATENATED),
    )
    for name, (data, expected) in cases.items()
]


@pytest.mark.parametrize("case", CASES)
def test_messages(write: Write, case: Case) -> None:
    """Every message is one record with its exact bytes, and so is every damaged or stray piece."""
    shape, data, expected = case
    assert messages(write(data), shape) == expected


@pytest.mark.parametrize("size", [*range(1, 12), 2**20])
@pytest.mark.parametrize("case", CASES)
def test_chunks(write: Write, chunk_bytes: Callable[[int], None], case: Case, size: int) -> None:
    """It makes no difference between which bytes a chunk ends."""
    chunk_bytes(size)
    shape, data, expected = case
    assert messages(write(data), shape) == expected


@pytest.mark.parametrize("shape", ["json-lines", "json-array", "json-concatenated"])
def test_position(write: Write, shape: str) -> None:
    """A record knows the path of its file and its number in it, and nothing of Kafka."""
    path = write(b"[1\n,\n2]" if shape == "json-array" else b"1\n\n2")
    assert list(read(path, shape=shape)) == [
        Record(None, b"1", Position(path=path, number=0)),
        Record(None, b"2", Position(path=path, number=1)),
    ]


@pytest.mark.parametrize("data", [b"[", b"[1,", b'[{"a":1}', b"[1,2", b'[{"a":1},\n'])
def test_array_cut_off(write: Write, data: bytes) -> None:
    """An array that ends behind an element and was never closed is an error after its records."""
    path = write(data)
    records = read(path, shape="json-array")
    whole = messages(write(data.rstrip(b",\n") + b"]"), "json-array")
    assert [next(records).value for _ in whole] == whole
    with pytest.raises(FramingError, match="never closed") as caught:
        next(records)
    assert (caught.value.path, caught.value.number) == (path, len(whole))


def test_no_array(write: Write) -> None:
    """What does not begin with a bracket is not an array, and the error says what to do."""
    with pytest.raises(FramingError, match="not one JSON array; name the shape json-lines"):
        messages(write(b'{"a":1}'), "json-array")


@pytest.mark.parametrize("size", [1, 5, 2**20])
@pytest.mark.parametrize(
    ("shape", "data"),
    [
        ("json-lines", b"12345678\n123456789\n1"),
        ("json-lines", b"12345678\n123456789"),
        ("json-array", b'["123456","1234567",1]'),
        ("json-concatenated", b'"123456" "1234567" 1'),
        ("json-concatenated", b'"123456" "12345678'),
    ],
)
def test_limit(
    write: Write, chunk_bytes: Callable[[int], None], shape: str, data: bytes, size: int
) -> None:
    """A record of `max_record_bytes` is read; a longer one is an error after those before it."""
    chunk_bytes(size)
    path = write(data)
    limit = 8
    records = read(path, shape=shape, max_record_bytes=limit)
    assert len(next(records).value or b"") == limit
    with pytest.raises(FramingError, match="longer than 8 bytes") as caught:
        next(records)
    assert (caught.value.path, caught.value.number) == (path, 1)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_lines_together(write: Write, chunk_bytes: Callable[[int], None], size: int) -> None:
    """Lines of a chunk come together with the number of the first, up to one that is damaged."""
    chunk_bytes(size)
    path = write(b"1\n\n22\n333\n4444\n55555555555\n6\n")
    found: list[Lines | Record] = []
    with pytest.raises(FramingError, match="record 4"):
        found.extend(read_together(path, shape="json-lines", max_record_bytes=9))
    every = [one for one in found if isinstance(one, Lines)]
    records = [record for lines in every for record in lines.records()]
    values = [b"1", b"22", b"333", b"4444"]
    assert [record.value for record in records] == values
    assert [record.position for record in records] == [
        Position(path=path, number=number) for number in range(4)
    ]
    assert (len(every) < len(values)) is (size == 1000)


def test_other_shapes_come_alone(write: Write) -> None:
    """What is no line is a record."""
    path = write(b"[1,2]")
    assert [*read_together(path, shape="json-array")] == [*read(path, shape="json-array")]
