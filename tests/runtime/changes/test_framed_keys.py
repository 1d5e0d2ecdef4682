"""Prefixes of a schema registry before values and record keys, by the options of decoding."""

from typing import Any

import msgspec
import pytest
from tests.runtime.changes import lindorm

import changewire as cw
from changewire.changes.decode_options import DecodeOptions

PREFIX = b"\x00\x00\x00\x00\x09"
KEY = b'{"id": 7}'
FRAMED = PREFIX + KEY
FORMAT = "lindorm-json"
VALUE = cw.encode(lindorm.message("u", after={"id": 7, "name": "a"}))
STRIPPING = DecodeOptions(FORMAT, strip_registry_prefix=True)


def only(options: DecodeOptions, value: bytes | None, key: bytes | None) -> tuple[Any, list[str]]:
    """Return what the one element of a record becomes, and its leniencies."""
    ((found, used),) = options.elements(value, key)
    return found, used


@pytest.mark.parametrize("format", [FORMAT, "auto"])
def test_prefixes_are_removed_where_asked_for(format: str) -> None:
    """A framed value and key give the change of the plain ones, and plain ones are as they were."""
    plain = only(DecodeOptions(format), VALUE, KEY)
    options = DecodeOptions(format, strip_registry_prefix=True)
    assert only(options, PREFIX + VALUE, FRAMED) == plain
    assert only(options, VALUE, KEY) == plain
    assert plain[0].key == {"id": 7}
    assert options.format_of(PREFIX + VALUE) == FORMAT
    refused, _ = only(DecodeOptions(format), PREFIX + VALUE, KEY)
    assert refused.code == "registry-framing"


@pytest.mark.parametrize(
    ("key", "code"), [(FRAMED, "registry-framing"), (b"\x1f\x8b\x08", "compressed")]
)
def test_a_framed_record_key_is_not_ignored(key: bytes, code: str) -> None:
    """A change that would have no key is refused; the text says that it is the record key."""
    refused, _ = only(DecodeOptions(FORMAT), VALUE, key)
    assert (refused.code, refused.pointer) == (code, "")
    assert "a record key" in refused.message


@pytest.mark.parametrize("key", [KEY, FRAMED])
def test_changes_of_a_model_strip_record_keys(key: bytes) -> None:
    """The function for single messages takes the option of the readers."""
    model = cw.decode(VALUE, format=FORMAT)
    (found,) = cw.changes(model, key, strip_registry_prefix=True)
    assert found.key == {"id": 7}
    with pytest.raises(cw.DecodeError, match="a record key"):
        cw.changes(model, FRAMED)


def test_a_framed_record_key_that_is_not_needed_is_counted() -> None:
    """A change that has its key elsewhere has a leniency."""
    found, used = only(DecodeOptions(FORMAT, key_columns=["id"]), VALUE, FRAMED)
    assert (found.key, used[-1]) == ({"id": 7}, "framed-record-key")
    cells = cw.encode(lindorm.message("c", after={"ROW": "AAE=", "f_a": "AAE="}))
    found, used = only(DecodeOptions(FORMAT), cells, FRAMED)
    assert (found.key, used[-1]) == ({"ROW": b"\x00\x01"}, "framed-record-key")
    assert only(DecodeOptions(FORMAT), VALUE, b"plain text")[0].key is None


@pytest.mark.parametrize("format", [FORMAT, "aerospike-json", "aerospike-msgpack"])
def test_deletes_by_a_framed_key(format: str) -> None:
    """A record without value is refused for its framed key, and deletes where it is stripped."""
    parts: Any = ["n", "s", b"abcdefghijklmnopqrst", None]
    keys = {
        FORMAT: KEY,
        "aerospike-json": msgspec.json.encode(parts),
        "aerospike-msgpack": msgspec.msgpack.encode(parts),
    }
    framed = PREFIX + keys[format]
    refused, _ = only(DecodeOptions(format, tombstones="delete"), None, framed)
    assert refused.code == "registry-framing"
    stripping = DecodeOptions(format, tombstones="delete", strip_registry_prefix=True)
    plain = only(DecodeOptions(format, tombstones="delete"), None, keys[format])
    assert only(stripping, None, framed) == plain
    assert plain[0].op == "delete"
