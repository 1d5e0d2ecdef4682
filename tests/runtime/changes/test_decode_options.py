"""How the messages of a topic are read."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.json import encode
from tests.runtime.codec.formats import name_of, wire_of
from tests.runtime.codec.test_detect import single

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.msgpack_heads import ARRAYS

SCHEMA = {"dataColumn": [{"name": "n", "type": "DOUBLE"}], "primaryKey": None, "source": None}
SOURCE = {"namespace": "n", "table": "t", "ts_ms": 1}
ROW = {"ROW": "AAE=", "f_g_a": "Ag=="}
HBASE = {"payload": {"op": "c", "ts_ms": 1, "after": ROW, "source": SOURCE}}


def insert(row: Any, **more: Any) -> bytes:
    """Return the bytes of a DataWorks insert."""
    payload = {"op": "INSERT", "after": {"dataColumn": row}, "timestamp": {"eventTime": 5}, **more}
    return encode({"schema": SCHEMA, "payload": payload, "version": "0.0.1"})


def test_leniencies_of_message_and_change_are_one_list() -> None:
    """An element names the leniencies that its message needed, and what its values needed."""
    delete = b'{"schema":{"dataColumn":null,"primaryKey":null,"source":null},"payload":{'
    delete += b'"op":"DELETE","before":{"dataColumn":{"x":1}},"after":{"dataColumn":{}},'
    delete += b'"sequenceId":"1","timestamp":{"eventTime":5},"ddl":null},"version":"1"}'
    ((change, used),) = DecodeOptions("dataworks-json").elements(delete)
    assert isinstance(change, cw.Change)
    assert change.attributes["leniencies"] == ["undeclared-column"]
    assert used == ["after-on-delete", "undeclared-column"]
    ((_, used),) = DecodeOptions("dataworks-json").elements(insert({"n": "1.10", "x": 1}))
    assert used[-2:] == ["numeric-text", "undeclared-column"]


def test_keys_families_and_image_reach_the_changes() -> None:
    """What the reader says of a topic holds for each of its messages."""
    decode_options = DecodeOptions(
        "lindorm-json", "patch", key_columns=["f_g:a"], column_families=["f", "f_g"]
    )
    ((change, _),) = decode_options.elements(encode(HBASE))
    assert isinstance(change, cw.Change)
    assert (change.key, change.after) == (
        {"f_g:a": b"\x02"},
        {"ROW": b"\x00\x01", "f_g:a": b"\x02"},
    )
    assert change.attributes["row_image"] == "patch"
    ((change, _),) = DecodeOptions("dataworks-json", key_columns=("n",)).elements(insert({"n": 1}))
    assert isinstance(change, cw.Change)
    assert change.key == {"n": 1}


KEYS = {
    "*": ["z"],
    "shop.*": ["s"],
    "shop.o*": ["so"],
    "*.orders": ["longer"],
    "shop.orders": ["exact"],
    "crm.?": ["one"],
}


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("shop.orders", ["exact"]),
        ("shop.items", ["s"]),
        ("shop.others", ["so"]),
        ("crm.orders", ["longer"]),
        ("crm.a", ["one"]),
        ("crm.ab", ["z"]),
        ("Shop.items", ["z"]),
    ],
)
def test_the_nearest_name_of_a_table_has_the_keys(name: str, keys: list[str]) -> None:
    """A name counts before globs, and a longer glob before a shorter one, in any order."""
    database, table = name.split(".")
    source = cw.Source(system="s", database=database, schema=None, table=table)
    for each in (KEYS, dict(reversed(KEYS.items()))):
        assert DecodeOptions("dataworks-json", key_columns=each).keys_of(source) == keys
    without = {glob: value for glob, value in KEYS.items() if glob != "*"}
    found = DecodeOptions("dataworks-json", key_columns=without).keys_of(source)
    assert found == (None if keys == ["z"] else keys)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({}, "key_columns is a sequence of names, at least one"),
        ({"": ["id"]}, "key_columns: the name of a table is not empty"),
        ({"a.b": "id"}, "key_columns of a.b is a sequence of names, at least one"),
        ({"a.b": []}, "key_columns of a.b is a sequence of names, at least one"),
    ],
)
def test_keys_by_table_that_are_refused(keys: Any, sentence: str) -> None:
    """What is wrong is named."""
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        DecodeOptions("lindorm-json", key_columns=keys)


def test_each_message_of_a_mixed_topic_is_read_by_its_own_format() -> None:
    """With the format auto, elements are those that the format of the message gives."""
    for name, path in single("valid"):
        data = wire_of(path)
        assert DecodeOptions("auto").elements(data) == DecodeOptions(name).elements(data)


@given(st.binary() | st.text().map(str.encode))
def test_a_message_of_no_format_is_a_rejection(data: bytes) -> None:
    """On a mixed topic a message that no format claims is refused, and the topic goes on.

    It has the code of the parser if it begins as a message, or has no bytes, and that of
    compressed data, or of the prefix of a schema registry, if it begins as such.
    """
    assume(cw.detect(data) is None)  # drawn bytes are now and then a message that stands in a file
    ((found, used),) = DecodeOptions("auto").elements(data)
    assert isinstance(found, cw.Rejection)
    assert (found.format, used) == ("unknown", [])
    begins_as_message = (
        data.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] in {b"", b"{", b"["} or data[0] in ARRAYS
    )
    is_compressed = data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd"))
    expected = {"compressed"} if is_compressed else {"unknown-variant"}
    if data.startswith(b"\0"):  # as the prefix of a schema registry does
        expected.add("registry-framing")
    assert found.code in expected or begins_as_message


def test_a_tombstone_of_a_mixed_topic_is_of_no_system() -> None:
    """A record without value is an empty event, whatever other messages of its topic are."""
    ((change, _),) = DecodeOptions("auto").elements(None)
    assert isinstance(change, cw.Change)
    assert (change.op, change.source.system) == ("empty", "unknown")


def test_options_of_a_mixed_topic_are_for_those_formats_that_have_a_use_for_them() -> None:
    """Keys name the rows of one format, and the digest those of another, on the same topic."""
    decode_options = DecodeOptions(
        "auto", key_columns=["n"], column_families=["f"], time_zone="Asia/Tokyo"
    )
    ((change, _),) = decode_options.elements(insert({"n": 1}))
    assert isinstance(change, cw.Change)
    assert change.key == {"n": 1}
    delete = b'{"msg":"delete","key":["ns",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",1]}'
    assert decode_options.elements(delete) == DecodeOptions("aerospike-json").elements(delete)


def test_a_contradiction_is_a_rejection() -> None:
    """A message whose values contradict its schema is refused; the topic goes on."""
    ((found, used),) = DecodeOptions("dataworks-json").elements(insert({"n": True}))
    assert isinstance(found, cw.Rejection)
    assert (found.code, found.pointer, used) == (
        "contradicts-schema",
        "/payload/after/dataColumn/n",
        [],
    )


@pytest.mark.parametrize(
    ("format", "options", "text"),
    [
        ("nope", {}, "no format 'nope'"),
        (
            "lindorm-json",
            {"row_image": "half"},
            "no row_image 'half'; there are: full, patch, keys",
        ),
        ("lindorm-json", {"key_columns": "id"}, "key_columns is a sequence of names, at least one"),
        ("lindorm-json", {"key_columns": []}, "key_columns is a sequence of names, at least one"),
        (
            "lindorm-json",
            {"column_families": ()},
            "column_families is a sequence of names, at least one",
        ),
        (
            "dataworks-json",
            {"column_families": ["f"]},
            "dataworks-json: it is for lindorm-json",
        ),
        ("aerospike-json", {"column_families": ["f"]}, "it is for lindorm-json"),
        (
            "aerospike-json",
            {"key_columns": ["a"]},
            "key_columns does not apply to aerospike-json: rows are",
        ),
        ("aerospike-json", {"time_zone": "Asia/Tokyo"}, "it is for dataworks-json"),
        ("lindorm-json", {"time_zone": "Asia/Tokyo"}, "it is for dataworks-json"),
        *(
            ("dataworks-json", {"time_zone": zone}, "no time_zone .*; expected an IANA name")
            for zone in ("", "GMT+8", "Asia", "Asia/Beijing", "../x", "/etc/localtime", "a\0b", 8)
        ),
    ],
)
def test_what_does_not_fit_is_refused_at_once(format: str, options: Any, text: str) -> None:
    """What has no meaning in the format is refused before the first message."""
    with pytest.raises(ValueError, match=text):
        DecodeOptions(format, **options)


@pytest.mark.parametrize(
    "options", [{"key_columns": "id"}, {"column_families": ["f"]}, {"time_zone": "Asia/Beijing"}]
)
def test_changes_refuses_the_same(options: Any) -> None:
    """The function for one message checks its options alike."""
    message = cw.decode(insert({"n": 1}), format="dataworks-json")
    with pytest.raises(ValueError, match=r"key_columns is|does not apply|no time_zone"):
        cw.changes(message, **options)


@pytest.mark.parametrize(("name", "path"), single("valid"), ids=name_of)
def test_changes_share_no_row_with_their_message(name: str, path: Path) -> None:
    """Adding a column to a row of a change leaves the message, and its next change, alone."""
    for model in cw.decode_all(wire_of(path), format=name):
        expected = [(c.before, c.after) for c in deepcopy(cw.changes(model))]
        for change in cw.changes(model):
            for row in (change.before, change.after):
                if row is not None:
                    row["more"] = 1
        assert [(c.before, c.after) for c in cw.changes(model)] == expected
