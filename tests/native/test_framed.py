"""Prefixes of a schema registry: the kernel reads what follows them, and ignores no framed key."""

import gzip

import pytest
from tests.native.differential import FORMATS, batch_of, compare, needs_kernel
from tests.native.test_differential import examples

from changewire.changes.decode_options import DecodeOptions

pytestmark = needs_kernel

PREFIX = b"\x00\x00\x00\x00\x09"


def framed(data: bytes | None) -> bytes | None:
    """Return a value or key behind a prefix."""
    return None if data is None else PREFIX + data


def compressed(data: bytes | None) -> bytes | None:
    """Return a value or key that gzip compressed."""
    return None if data is None else gzip.compress(data)


@pytest.mark.parametrize("format", FORMATS)
def test_prefixes_are_removed_for_the_kernel(format: str) -> None:
    """Framed records have the rows of Python; the kernel reads as many as of plain ones."""
    records = examples(format)
    values, keys = zip(*records, strict=True)
    plain = compare(batch_of(values, keys), DecodeOptions(format))
    options = DecodeOptions(format, strip_registry_prefix=True)
    batch = batch_of(map(framed, values), [*map(framed, keys)])
    found = compare(batch, options)
    assert (found.messages, found.declined) == (plain.messages, plain.declined)
    assert compare(batch_of(values, keys), options) == plain


@pytest.mark.parametrize("format", FORMATS)
def test_framed_records_without_the_option(format: str) -> None:
    """The kernel leaves framed values, and framed or compressed keys of Lindorm, to Python."""
    values, keys = zip(*examples(format), strict=True)
    compare(batch_of(map(framed, values), keys), DecodeOptions(format))
    for change in (framed, compressed):
        others = [change(key or b"{}") for key in keys]
        for options in (DecodeOptions(format), *_keyed(format)):
            compare(batch_of(values, others), options)


def _keyed(format: str) -> list[DecodeOptions]:
    return [DecodeOptions(format, key_columns=["id"])] if format == "lindorm-json" else []
