"""The shape of an input is told from its first line."""

import gzip
from collections.abc import Callable

import pytest

from changewire.framing import SHAPES, read, source
from changewire.framing.detect import detect
from changewire.framing.source import Source, opened

Write = Callable[..., str]
KCAT = b'{"topic":"t","partition":0,"offset":1,"key":null,"payload":"{}"}'
RPK = b'{"topic":"t","timestamp":5,"partition":0,"offset":1}'
CASES = {
    "nothing": (b"", "json-lines"),
    "blanks": (b" \n\n", "json-lines"),
    "objects in lines": (b'{"a":1}\n{"a":2}\n', "json-lines"),
    "one line": (b'{"a":1}', "json-lines"),
    "one batch": (b'[{"a":1},{"a":2}]', "json-lines"),
    "batches in lines": (b"[1]\n[2]\n", "json-lines"),
    "blank lines first": (b'\r\n \n{"a":1}\n', "json-lines"),
    "a byte order mark": (b'\xef\xbb\xbf{"a":1}\n', "json-lines"),
    "junk": (b"nonsense and more\n{}\n", "json-lines"),
    "junk after a value": (b'{"a":1} oops\n{"a":2}\n', "json-lines"),
    "the end of a line": (b'"a":1}\n{"a":2}\n', "json-lines"),
    "a first line cut off": (b'{"a":\n{"a":2}\n{"a":3}\n', "json-lines"),
    "a pretty array": (b'[\n  {"a":1}\n]', "json-array"),
    "an array with a byte order mark": (b"\xef\xbb\xbf[\n1]", "json-array"),
    "an array cut off": (b'[{"a":1},{"b":', "json-array"),
    "an array of a few lines": (b'[{"a":1},\n{"a":2}]', "json-array"),
    "a long array": (b"[" + b'{"a":1},' * 200_000 + b"1]", "json-array"),
    "pretty values": (b'{\n  "a": 1\n}\n{\n  "a": 2\n}', "json-concatenated"),
    "values in one line": (b'{"a":1}{"a":2}', "json-concatenated"),
    "values in two lines": (b'{"a":1} {"a":\n2}', "json-concatenated"),
    "a long object": (b'{"a":"' + b"x" * 2**21 + b'"}', "json-concatenated"),
    "kcat": (KCAT + b"\n", "kcat"),
    "kcat without payload": (KCAT.replace(b"payload", b"other"), "json-lines"),
    "kcat without key": (KCAT.replace(b"key", b"other"), "kcat"),
    "kcat with binary": (KCAT.replace(b"null", b'"\xff"'), "kcat"),
    "almost kcat": (KCAT.replace(b"key", b"x").replace(b"payload", b"y"), "json-lines"),
    "kcat and more": (KCAT.replace(b"{", b'{"more":1,', 1), "kcat"),
    "kcat over several lines": (KCAT.replace(b",", b",\n"), "kcat"),
    "kcat without anything between": (KCAT + KCAT, "kcat"),
    "rpk": (RPK + b"\n", "rpk"),
    "rpk with everything": (RPK.replace(b"{", b'{"key":"k","value":"v","headers":[],', 1), "rpk"),
    "rpk over several lines": (b"\xef\xbb\xbf\n" + RPK.replace(b",", b",\r\n  "), "rpk"),
    "rpk, a long one over several lines": (
        RPK.replace(b"{", b'{\n"value":"' + b"x" * 2**19 + b'",', 1),
        "rpk",
    ),
    "rpk and more": (RPK.replace(b"{", b'{"more":1,', 1), "rpk"),
    "almost rpk": (RPK.replace(b"timestamp", b"time"), "json-lines"),
    "kcat without offset": (KCAT.replace(b"offset", b"o"), "json-lines"),
    "console": (b'k\t{"a":1}\n', "console"),
    "console with a key of JSON": (b'["n", "s"]\t{"a":1}\n', "console"),
    "console with an object as key": (b'{"id":1}\t{"a":1}\n{"id":2}\tnull\n', "console"),
    "console with a text as key": (b'"a\\tb"\t[{"a":1}]\n', "console"),
    "console without key": (b'null\t{"a":1}\n', "console"),
    "console without value": (b"k\tnull\n", "console"),
    "console with headers": (b'a:1,b:2\tk\t{"a":1}\n', "console"),
    "console with no headers": (b'NO_HEADERS\tk\t{"a":1}\n', "console"),
    "console with no headers and no key": (b'NO_HEADERS\t{"a":1}\n', "console"),
    "console with places alone": (b'Partition:0\tOffset:7\t{"a":1}\n', "console"),
    "no headers, and two parts": (b'k\tk\t{"a":1}\n', "json-lines"),
    "console with places": (b'CreateTime:5\tPartition:0\tOffset:7\tk\t{"a":1}\n', "console"),
    "a long value in the console": (b'k\t{"a":"' + b"x" * 2**21 + b'"}', "console"),
    "a TAB within an object": (b'{\t"a":1}\n{"a":2}\n', "json-lines"),
    "a TAB before an object": (b'\t{"a":1}\n', "json-lines"),
    "a TAB within a line that goes on": (b'"a":\t{"b":1}\n', "json-lines"),
    "values with TABs between": (b'{"a":1}\t{"a":2}\t{"a":3}\n', "json-concatenated"),
    "a key and other text": (b"k\tv\n", "json-lines"),
    "deep junk with binary": (b'{"a":"\xff","b":' + b"[" * 100_000, "json-concatenated"),
    "deep junk": (b'{"a":' * 100_000, "json-concatenated"),
    "parquet": (b"PAR1...", "parquet"),
    "MessagePack": (b"\x93\x01\x01\x91\xa1a", "msgpack-concatenated"),
    "MessagePack, twice": (b"\x93\x01\x01\x91\xa1a" * 2, "msgpack-concatenated"),
    "MessagePack, a batch": (b"\x91\x93\x01\x01\x91\xa1a", "msgpack-concatenated"),
    "MessagePack, a long array": (b"\xdc\x00\x02\xcc\x01\x90", "msgpack-concatenated"),
    "MessagePack, large": (
        b"\x92\x01\x91\xc6\x00\x20\x00\x00" + bytes(2**21),
        "msgpack-concatenated",
    ),
    "MessagePack, cut off": (b"\x93\x01\x01", "msgpack-concatenated"),
    "lengths": (b"\x00\x00\x00\x03\x92\x01\x90\x00\x00\x00", "msgpack-length-prefixed"),
    "lengths, one cut off": (b"\x00\x00\x00\x09\x92\x01\x90", "msgpack-length-prefixed"),
    "a large one behind its length": (
        b"\x00\x20\x00\x07\x92\x01\x91\xc6\x00\x20\x00\x00" + bytes(2**21),
        "msgpack-length-prefixed",
    ),
    "lengths of JSON": (b"\x00\x00\x00\x02{}\x00\x00\x00\x02{}", "json-lines"),
    "a false length": (b"\x00\x00\x00\x02\x92\x01\x90", "msgpack-length-prefixed"),
    "a length too short": (b"\x00\x00\x00\x05\x92\x01\x90\x92\x01\x90", "json-lines"),
    "an array and then text": (b"\x92\x01\x90{}\n", "json-lines"),
    "the end of a character": (b'\x93\xe4\xb8", "b": 1}\n{"a": 1}\n', "json-lines"),
    "UTF-16": ('{"a": 1}\n'.encode("utf-16-be"), "json-lines"),
    "the byte that MessagePack lacks": (b"\x92\x01\xc1", "json-lines"),
}
EVERY = pytest.mark.parametrize(("data", "shape"), CASES.values(), ids=CASES)


def detected(path: str) -> str:
    """Return the shape of a file; what is read after that is the whole file."""
    with opened(path) as file:
        return detect(file)


@EVERY
def test_shape(write: Write, data: bytes, shape: str) -> None:
    """The first line decides, whatever the file is called."""
    assert detected(write(data)) == shape


@EVERY
def test_shape_of_stdin(stdin: Callable[[bytes], None], data: bytes, shape: str) -> None:
    """Standard input is looked at without being consumed, and may be compressed."""
    stdin(gzip.compress(data))
    with opened("-") as file:
        assert detect(file) == shape
        assert b"".join(file) == data


def test_chunks(write: Write, chunk_bytes: Callable[[int], None]) -> None:
    """It makes no difference how many bytes a chunk has."""
    chunk_bytes(1)
    small = [case for case in CASES.values() if len(case[0]) < 2**10]
    assert [detected(write(data)) for data, _ in small] == [shape for _, shape in small]


def test_first_line_is_enough() -> None:
    """Nothing is waited for behind the first line that is not blank."""
    chunks = iter([b"\n", b'{"a":', b"1}\n", b"not yet there"])
    assert detect(Source("-", chunks, plain=False)) == "json-lines"
    assert next(chunks) == b"not yet there"


def test_bounded(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without end is looked at only so far."""
    monkeypatch.setattr(source, "PEEK_BYTES", 10)
    with opened(write(b'[{"a":1},' * 1000 + b"1")) as file:
        assert len(file.peek(lambda _: False)) == len(b'[{"a":1},[')


def test_shapes_are_named() -> None:
    """The shapes are those that are documented."""
    assert SHAPES == (
        "json-lines",
        "json-array",
        "json-concatenated",
        "kcat",
        "rpk",
        "console",
        "msgpack-concatenated",
        "msgpack-length-prefixed",
        "parquet",
    )


def test_unknown_shape(write: Write) -> None:
    """A shape that does not exist is refused at once, and the error names those that do."""
    with pytest.raises(ValueError, match="no shape 'csv'; choose auto, json-lines, json-array"):
        read(write(b""), shape="csv")
