"""The cache of compiled schemas."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from tests.runtime.changes.connect.helpers import CONNECT, field, struct

from changewire.changes.connect import (
    ConnectSchemaError,
    SchemaCache,
    compile_schema,
    fingerprint,
)


def text(i: int) -> bytes:
    """Return one of many schemas."""
    return json.dumps(struct(field(f"column_{i}", "int32"))).encode()


def counts(cache: SchemaCache) -> tuple[int, int, int, int]:
    """Return what a cache counts, and how many schemas it keeps."""
    return cache.hits, cache.misses, cache.evictions, len(cache)


def test_a_schema_is_compiled_once() -> None:
    """The same bytes give the same compiled schema, whoever holds them."""
    cache = SchemaCache()
    first = cache.get(text(1))
    assert first.reader is not None
    assert first.reader.read({"column_1": 5}, "") == {"column_1": 5}
    assert first.schema == json.loads(text(1))
    assert (first.raw, first.fingerprint) == (text(1), fingerprint(text(1)))
    assert cache.get(bytes(bytearray(text(1)))) is first
    assert cache.get(text(2)) is not first
    assert cache.get(text(1)) is first
    assert counts(cache) == (2, 2, 0, 2)


def test_the_least_recently_used_leaves() -> None:
    """A full cache lets go of the schema that was not asked for the longest."""
    cache = SchemaCache(size=2)
    kept = cache.get(text(1))
    for i in (2, 1, 3):
        cache.get(text(i))
    assert counts(cache) == (1, 3, 1, 2)
    assert cache.get(text(1)) is kept
    cache.get(text(2))
    assert counts(cache) == (2, 4, 2, 2)


def test_bytes_are_bounded() -> None:
    """Large schemas leave earlier; one that is larger than the cache is compiled and not kept."""
    cache = SchemaCache(max_bytes=3 * len(text(1)))
    for i in range(1, 5):
        cache.get(text(i))
    assert counts(cache) == (0, 4, 1, 3)
    large = cache.get(text(1) + b" " * 1000)
    assert large.reader is not None
    assert len(cache) == 0


def test_a_schema_that_two_threads_compile_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes of a schema are counted once, so no other schema has to leave for them."""
    cache = SchemaCache(max_bytes=2 * len(text(1)))

    def compiled_meanwhile(*arguments: Any, **options: Any) -> Any:
        monkeypatch.undo()
        cache.get(text(1))
        return compile_schema(*arguments, **options)

    module = sys.modules[SchemaCache.__module__]
    monkeypatch.setattr(module, "compile_schema", compiled_meanwhile)
    cache.get(text(1))
    cache.get(text(2))
    assert counts(cache) == (0, 3, 0, 2)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"nul",
        b"{} {}",
        b"\xff",
        b'{"type": "int7"}',
        b'"\\ud800"',
        b"[" * 100_000,
        b'{"type": "double", "default": 1e99999999999999999999}',
    ],
)
def test_malformed_text_is_refused_each_time(raw: bytes) -> None:
    """Text that is no schema raises ConnectSchemaError every time, and the cache does not grow."""
    cache = SchemaCache()
    for _ in range(2):
        with pytest.raises(ConnectSchemaError):
            cache.get(raw)
    assert counts(cache) == (0, 2, 0, 0)


@pytest.mark.parametrize("raw", [b"{}", b"null", b" { } "])
def test_schemas_that_say_nothing_have_no_reader(raw: bytes) -> None:
    """The empty object and null are remembered like any schema, without a reader."""
    assert SchemaCache().get(raw).reader is None


def test_defaults_keep_their_digits() -> None:
    """A default that is a number with a fraction is exact, as its text is still there."""
    schema = (
        f'{{"type": "bytes", "name": "{CONNECT}Decimal", "parameters": {{"scale": "2"}},'
        ' "default": 0.10000000000000000001}'
    )
    reader = SchemaCache().get(schema.encode()).reader
    assert reader is not None
    assert reader.read(None, "") == Decimal("0.10000000000000000001")


def test_null_can_stay_null() -> None:
    """The setting for defaults holds for every schema of a cache."""
    raw = b'{"type": "int8", "optional": true, "default": 3}'
    for replace, expected in ((True, 3), (False, None)):
        reader = SchemaCache(replace_null_with_default=replace).get(raw).reader
        assert reader is not None
        assert reader.read(None, "") == expected


def test_fingerprints_are_those_of_other_tools() -> None:
    """A fingerprint is the beginning of the SHA-256 of the bytes, in lower-case hex."""
    assert fingerprint(b"abc") == "ba7816bf8f01cfea414140de5dae2223"
    assert fingerprint(b"{}") != fingerprint(b"{ }")


def test_threads_share_a_cache() -> None:
    """Calls from many threads all get their schema; every call is counted once."""
    cache = SchemaCache(size=5)
    wanted = [text(i % 8) for i in range(4000)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(cache.get, wanted))
    assert [compiled.raw for compiled in found] == wanted
    assert cache.hits + cache.misses == len(wanted)
    assert len(cache) == 5
