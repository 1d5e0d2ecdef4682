"""Files, standard input and compressed data, whole or damaged."""

import bz2
import codecs
import errno
import gc
import gzip
import io
import lzma
import pickle
import random
import sys
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from changewire.framing import FramingError, read

pa: Any = import_module("pyarrow")  # its types are not all known
Write = Callable[..., str]
RANDOM = random.Random(0)  # noqa: S311 - to have something that does not compress well
LINES = [b'{"n":%d,"x":"%032x"}' % (n, RANDOM.getrandbits(128)) for n in range(20_000)]
DATA = b"\n".join(LINES)


def zstd(data: bytes) -> bytes:
    """Return the data, compressed."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue().to_pybytes())


def zipped(data: bytes) -> bytes:
    """Return an archive with the data."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("topic.jsonl", data)
    return file.getvalue()


PACKERS = pytest.mark.parametrize("pack", [gzip.compress, zstd])


def values(path: str) -> list[bytes | None]:
    """Return the value of every record."""
    return [record.value for record in read(path)]


def salvaged(path: str) -> tuple[list[bytes | None], FramingError]:
    """Return the values before the damage, and the error."""
    before: list[bytes | None] = []
    with pytest.raises(FramingError) as caught:
        before.extend(record.value for record in read(path))
    return before, caught.value


@PACKERS
def test_compressed(write: Write, pack: Callable[[bytes], bytes]) -> None:
    """Gzip and zstd are recognised by their first bytes, not by the name of the file."""
    assert values(write(pack(DATA), ".json")) == LINES


def test_name_is_ignored(write: Write) -> None:
    """A file that only claims to be compressed is read as it is."""
    assert values(write(DATA, ".gz")) == LINES


@PACKERS
def test_stdin(stdin: Callable[[bytes], None], pack: Callable[[bytes], bytes]) -> None:
    """Standard input may be compressed; its records stand in the file ``-``."""
    stdin(pack(DATA))
    records = list(read("-"))
    assert [record.value for record in records] == LINES
    assert records[-1].position.path == "-"


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 100])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_chunks(
    write: Write,
    chunk_bytes: Callable[[int], None],
    pack: Callable[[bytes], bytes],
    size: int,
) -> None:
    """It makes no difference how many bytes are read at once."""
    chunk_bytes(size)
    assert values(write(pack(DATA[:400]))) == DATA[:400].split(b"\n")


@PACKERS
def test_members(write: Write, pack: Callable[[bytes], bytes]) -> None:
    """Compressed files that were put one behind the other are read to the end."""
    assert values(write(pack(DATA + b"\n") + pack(DATA))) == LINES + LINES


def skippable(size: int, kind: int = 0) -> bytes:
    """Return a frame of zstd that is skipped."""
    return bytes([0x50 + kind, 0x2A, 0x4D, 0x18, size, 0, 0, 0]) + b"x" * size


@pytest.mark.parametrize(
    "packed",
    [
        skippable(4) + zstd(DATA),
        skippable(0, 15) + skippable(200, 7) + zstd(DATA),
        skippable(4) + zstd(DATA[:5000]) + skippable(4) + zstd(DATA[5000:]),
        zstd(DATA) + skippable(4),
    ],
)
def test_frames_that_are_skipped(write: Write, packed: bytes) -> None:
    """Files of pzstd, in which a frame that is skipped stands before each other, are read."""
    assert values(write(packed)) == LINES


@pytest.mark.parametrize(
    ("packed", "name"),
    [
        (bz2.compress(DATA), "bzip2"),
        (bz2.compress(b""), "bzip2"),
        (lzma.compress(DATA), "xz"),
        (pa.compress(DATA, "lz4", asbytes=True), "lz4"),
        (zipped(DATA), "zip"),
    ],
)
def test_other_compressions(
    write: Write, stdin: Callable[[bytes], None], packed: bytes, name: str
) -> None:
    """Files that something else compressed are named, and no record is made of them."""
    stdin(packed)
    for path in (write(packed), "-"):
        before, error = salvaged(path)
        assert (before, error.number) == ([], None)
        assert error.reason.startswith(f"the file is compressed by {name}; unpack it, or compress")


TEXT = '{"a": "ü"}\r\n[1]\r\n'


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF16_LE + "k\t{}\n".encode("utf-16-le"),
        codecs.BOM_UTF16_LE,
        codecs.BOM_UTF16_BE,
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        "\r\n {\n}".encode("utf-16-le"),
        "\r\n {\n}".encode("utf-16-be"),
        gzip.compress("[\n1\n]".encode("utf-16"), mtime=0),
    ],
)
@pytest.mark.parametrize("shape", ["auto", "json-lines", "json-array", "kcat", "console"])
def test_utf_16(write: Write, chunk_bytes: Callable[[int], None], data: bytes, shape: str) -> None:
    """Text in UTF-16 is named, with and without a byte order mark, and no record is made of it."""
    chunk_bytes(2)
    with pytest.raises(FramingError, match=r"the text is UTF-16, .*convert it to UTF-8") as caught:
        next(read(write(data), shape=shape))
    assert caught.value.number is None


@pytest.mark.parametrize("data", [b"x\0y\0", b"\xff\xfe", b"{}\0\0", b"\0\0", b"\xff\xff\0"])
def test_other_bytes_are_not_utf_16(write: Write, data: bytes) -> None:
    """Damaged text is kept as it is."""
    assert values(write(b"1\n" + data)) == [b"1", data]


@PACKERS
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_cut_off(write: Write, pack: Callable[[bytes], bytes], part: float) -> None:
    """Of compressed data that is cut off, the records before the cut are read."""
    packed = pack(DATA)
    path = write(packed[: int(len(packed) * part)])
    before, error = salvaged(path)
    assert before == LINES[: len(before)]
    assert (error.path, error.number) == (path, len(before))
    assert "cut off or damaged" in error.reason


def test_cut_off_late(write: Write) -> None:
    """Of gzip data without its trailer, every line that ended is read, and the loss is told."""
    before, _ = salvaged(write(gzip.compress(DATA)[:-8]))
    assert before == LINES[:-1]


@PACKERS
def test_cut_off_at_once(write: Write, pack: Callable[[bytes], bytes]) -> None:
    """Compressed data of which only the first bytes are left is an error, not an empty file."""
    before, error = salvaged(write(pack(DATA)[:4]))
    assert (before, error.number) == ([], 0)


@PACKERS
def test_corrupt(write: Write, pack: Callable[[bytes], bytes]) -> None:
    """Of compressed data that was changed, the records before the damage are read."""
    packed = bytearray(pack(DATA))
    middle = len(packed) // 2
    packed[middle : middle + 2**17] = bytes(2**17)
    before, error = salvaged(write(bytes(packed)))
    assert before[:5000] == LINES[:5000]
    assert before != LINES
    assert error.number == len(before)


@PACKERS
def test_junk_behind(write: Write, pack: Callable[[bytes], bytes]) -> None:
    """Bytes behind compressed data that are no compressed data are an error."""
    before, _ = salvaged(write(pack(DATA + b"\n") + b"what is this?"))
    assert before == LINES[: len(before)]
    assert len(before) > len(LINES) - 10


def test_missing(tmp_path: Path) -> None:
    """A file that does not exist is an error when the first record is asked for."""
    path = str(tmp_path / "none.json")
    records = read(path)
    with pytest.raises(FramingError) as caught:
        next(records)
    assert str(caught.value) == (
        f"{path}: the file cannot be opened (No such file or directory); check its path"
    )
    assert (caught.value.path, caught.value.number) == (path, None)


def test_folder(tmp_path: Path) -> None:
    """A folder is no file."""
    with pytest.raises(FramingError, match="Is a directory"):
        next(read(str(tmp_path)))


class Failing(io.BytesIO):
    """A stream that breaks once its bytes are used up."""

    def read1(self, size: int | None = -1, /) -> bytes:
        """Return bytes while there are some."""
        data = super().read1(size)
        if not data:
            raise OSError(errno.EIO, "Input/output error")
        return data


def test_broken_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """An input that breaks while it is read is an error after the records before it."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Failing(b"12345\n6\n7")))
    before, error = salvaged("-")
    assert before == [b"12345", b"6"]
    assert str(error).startswith("standard input, record 2 (the first is 0): the input cannot be")


def test_broken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An input that breaks before anything is known of it is an error as well."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Failing(b"1")))
    before, error = salvaged("-")
    assert (before, error.number) == ([], None)
    assert str(error) == (
        "standard input: the file cannot be opened (Input/output error); check its path"
    )


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_closed_early(write: Write) -> None:
    """The file is closed also when not all records are read."""
    records = read(write(DATA))
    next(records)
    del records
    gc.collect()


def test_error_survives_pickling() -> None:
    """An error keeps its fields when it travels between processes."""
    error = pickle.loads(pickle.dumps(FramingError("a.json", 3, "it is broken")))  # noqa: S301
    assert (error.path, error.number, error.reason) == ("a.json", 3, "it is broken")
    assert str(error) == "a.json, record 3 (the first is 0): it is broken"
