"""Schemas of Lindorm messages, compiled from their text."""

from decimal import Decimal

import pytest
from tests.runtime.changes.connect.helpers import CONNECT

from changewire.changes.connect.schema import ConnectSchemaError
from changewire.changes.lindorm_rows import compiled_text
from changewire.changes.values import fingerprint


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
def test_malformed_text_is_refused(raw: bytes) -> None:
    """Text that is no schema raises ConnectSchemaError, whatever its parser raises."""
    with pytest.raises(ConnectSchemaError):
        compiled_text(raw)


@pytest.mark.parametrize("raw", [b"{}", b"null", b" { } "])
def test_schemas_that_say_nothing_have_no_reader(raw: bytes) -> None:
    """The empty object and null have a fingerprint like any schema, and no reader."""
    assert compiled_text(raw) == (raw, fingerprint(raw), None)


def test_defaults_keep_their_digits() -> None:
    """A default that is a number with a fraction is exact, as its text is still there."""
    schema = (
        f'{{"type": "bytes", "name": "{CONNECT}Decimal", "parameters": {{"scale": "2"}},'
        ' "default": 0.10000000000000000001}'
    )
    reader = compiled_text(schema.encode()).reader
    assert reader is not None
    assert reader.read(None, "") == Decimal("0.10000000000000000001")


def test_null_stays_null() -> None:
    """The null of an optional field does not become its default."""
    reader = compiled_text(b'{"type": "int8", "optional": true, "default": 3}').reader
    assert reader is not None
    assert reader.read(None, "") is None


def test_fingerprints_are_those_of_other_tools() -> None:
    """A fingerprint is the beginning of the SHA-256 of the bytes, in lower-case hex."""
    assert fingerprint(b"abc") == "ba7816bf8f01cfea414140de5dae2223"
    assert fingerprint(b"{}") != fingerprint(b"{ }")
