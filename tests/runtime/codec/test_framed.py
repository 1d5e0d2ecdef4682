"""Bytes that hold a message and are none: behind a registry's prefix, or compressed."""

import gzip
import json

import pytest
from tests.runtime.codec.formats import Format, role_of, wire_of

import changewire as cw
from changewire.codec.framed import PREFIX_BYTES, framing_issue, without_prefix

PREFIX = b"\x00\x00\x00\x01\x07"
IDS = [PREFIX, b"\x00\x00\x00\x00\x00", b"\x00\x7b\x0a\xff\x92"]
ZSTD = b"\x28\xb5\x2f\xfd\x04\x00\x41\x00\x00\x61\x62\x63"


def refusal(data: bytes, format: str | None) -> cw.DecodeError:
    """Return the error with which a message is refused."""
    with pytest.raises(cw.DecodeError) as caught:
        cw.decode(data, format=format)
    return caught.value


@pytest.mark.parametrize("prefix", IDS)
def test_a_registry_prefix_is_named(form: Format, prefix: bytes) -> None:
    """Each message, batch and key behind a prefix has one issue, which says how to remove it."""
    for path in form.golden("valid"):
        role, data = role_of(path), wire_of(path)
        read = form.codec.decode_key if "key" in role else form.codec.decode
        with pytest.raises(cw.DecodeError) as caught:
            read(prefix + data)
        (issue,) = caught.value.issues
        assert (issue.code, issue.pointer, caught.value.byte_offset) == ("registry-framing", "", 0)
        assert "without the 5 bytes of a schema registry before it" in issue.expected
        assert "strip_registry_prefix" in issue.expected
        assert without_prefix(prefix + data) == data


@pytest.mark.parametrize("named", [True, False])
def test_it_is_named_whatever_the_format(form: Format, *, named: bool) -> None:
    """With and without a format the code is the same, and `detect` finds no format."""
    path = next(path for path in form.golden("valid") if role_of(path) == "message")
    data = PREFIX + wire_of(path)
    assert refusal(data, form.name if named else None).code == "registry-framing"
    assert cw.detect(data) is None
    assert [issue.code for issue in cw.validate(data, format=form.name)] == ["registry-framing"]


@pytest.mark.parametrize("named", [True, False])
def test_compressed_values_are_named(form: Format, *, named: bool) -> None:
    """Bytes of gzip and of zstd are refused by the name of what compressed them."""
    path = next(path for path in form.golden("valid") if role_of(path) == "message")
    for data, name in ((gzip.compress(wire_of(path)), "gzip"), (ZSTD, "zstd")):
        error = refusal(data, form.name if named else None)
        assert (error.code, error.byte_offset) == ("compressed", 0)
        assert name in error.expected


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ('{"msg": 1}'.encode("utf-16-be"), "invalid-unicode"),
        ('{"msg": 1}'.encode("utf-16"), "invalid-unicode"),
        ('{"msg": 1}'.encode("utf-32-be"), "invalid-unicode"),
        (b"\x00", "invalid-unicode"),
        (PREFIX, "invalid-unicode"),
        (PREFIX + b"avro", "invalid-unicode"),
    ],
)
def test_other_bytes_are_what_they_were(data: bytes, code: str) -> None:
    """UTF-16, UTF-32 and a prefix before something else are not taken for a framed message."""
    assert refusal(data, "aerospike-json").code == code
    assert framing_issue(data, "json") is None


def test_only_a_prefix_is_removed() -> None:
    """Bytes that do not begin with a zero, or are shorter than a prefix, stay."""
    for data in (b"", b"{}", b"\x00" * (PREFIX_BYTES - 1), b"\x01" + PREFIX + b"{}"):
        assert without_prefix(data) == data
    assert without_prefix(PREFIX) == b""


def test_no_message_begins_so(form: Format) -> None:
    """Removing prefixes never changes a message, for none begins with a zero."""
    for path in form.golden("valid"):
        data = wire_of(path)
        assert without_prefix(data) == data
        assert framing_issue(data, "json") is None
    assert json.dumps("\x00")[0] == '"'
