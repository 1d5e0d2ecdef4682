"""Changes of Aerospike messages in flat JSON: those of the JSON form, as far as they say it."""

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import modest

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire_messages.aerospike_flat_json import strategies

FLAT, JSON = "aerospike-flat-json", "aerospike-json"
DIGEST = "YWJjZGVmZ2hpamtsbW5vcHFyc3Q="
WRITE = {"msg": "write", "namespace": "ns", "set": "set", "digest": DIGEST, "gen": 2, "lut": 5}
DELETE = {**WRITE, "msg": "delete"}
TYPES: Mapping[type, str] = {
    bool: "bool",
    dict: "map",
    float: "float",
    int: "int",
    list: "list",
    str: "str",
    type(None): "null",
}


def message(
    bins: Mapping[str, Any], metadata: Mapping[str, Any] = WRITE, name: str = "metadata"
) -> bytes:
    """Return a message with these bins."""
    return dumps({name: metadata, **bins})


def change(data: bytes, **options: Any) -> cw.Change:
    """Return the change of a message."""
    (found,) = cw.changes(cw.decode(data, format=FLAT), **options)
    return found


def refusal(data: bytes, **options: Any) -> tuple[str, str]:
    """Return code and pointer of the error that a message without change ends with."""
    with pytest.raises(cw.DecodeError) as caught:
        change(data, **options)
    return caught.value.code, caught.value.pointer


def unflattened(value: dict[str, Any]) -> dict[str, Any]:
    """Return the same record as the JSON format has it."""
    name = next(
        n for n, v in value.items() if isinstance(v, dict) and {"msg", "digest"} <= v.keys()
    )
    metadata = value[name]
    key = [metadata["namespace"], metadata.get("set"), metadata["digest"], metadata.get("userKey")]
    rest = ("gen", "exp", "lut", "durable")
    found = {"msg": metadata["msg"], "key": key, **{n: metadata[n] for n in rest if n in metadata}}
    if metadata["msg"] == "delete":
        return found
    bins = [{"name": n, "type": TYPES[type(v)], "value": v} for n, v in value.items() if n != name]
    return {**found, "bins": bins}


@modest
@given(value=strategies.message())
def test_a_record_is_the_same_change_in_both_forms(value: dict[str, Any]) -> None:
    """Place, key, columns, time, order and attributes are those of the JSON form."""
    flat = change(dumps(value))
    (other,) = cw.changes(cw.decode(dumps(unflattened(value)), format=JSON))
    notes = flat.attributes, other.attributes
    extra = notes[0].pop("extra", {})
    assert not extra or flat.op == "delete"
    notes[1].pop("bins", None)  # null has a type there
    assert flat == other


def test_bins_of_a_delete_are_kept() -> None:
    """Bins next to the metadata of a delete have no meaning, and are not lost."""
    found = change(message({"a/b": 1}, DELETE))
    assert (found.op, found.after) == ("delete", None)
    assert found.attributes["extra"] == {"/a~1b": 1}


def test_metadata_may_have_any_name() -> None:
    """A bin may then be called metadata."""
    found = change(message({"metadata": 1}, name="meta"))
    assert found == change(message({"metadata": 1}, name="meta"), metadata_key="meta")
    assert found.after == {"metadata": 1}
    assert refusal(message({"metadata": 1}, name="meta"), metadata_key="metadata") == (
        "wrong-type",
        "/metadata",
    )


def test_a_record_that_holds_metadata_is_ambiguous() -> None:
    """The option says which of two properties is the metadata; without it both are rejected."""
    data = message({"old": {**DELETE, "new": 1}, "n": 1})
    assert refusal(data) == ("rule-broken", "/old")
    assert change(data, metadata_key="metadata").op == "upsert"
    old = change(data, metadata_key="old")
    assert old.op == "delete"
    assert old.attributes["extra"] == {"/old/new": 1, "/metadata": WRITE, "/n": 1}
    assert refusal(data, metadata_key="n") == ("wrong-type", "/n")
    assert refusal(data, metadata_key="a/b") == ("missing-property", "/a~1b")
    broken = message({"old": {**DELETE, "gen": "1"}})
    assert refusal(broken, metadata_key="old") == ("wrong-type", "/old/gen")


def test_named_bins_hold_bytes() -> None:
    """Their text is Base64, null stays null, and other bins are as JSON has them."""
    data = message({"a": "QUI=", "b": "QUI=", "c": None})
    found = change(data, blob_bins=["a", "c", "none"])
    assert found.after == {"a": b"AB", "b": "QUI=", "c": None}
    assert found.attributes["bins"] == {"a": {"type": "blob"}}
    assert refusal(message({"a/b": "x"}), blob_bins=["a/b"]) == ("invalid-base64", "/a~1b")
    assert refusal(message({"a": 1}), blob_bins=["a"]) == ("wrong-type", "/a")


def test_names_that_collide() -> None:
    """Two bins of one name are rejected; names that differ in case are two columns."""
    assert change(message({"n": 1, "N": 2})).after == {"n": 1, "N": 2}
    twice = message({"n": 1}).replace(b'"n"', b'"n":0,"n"')
    with pytest.raises(cw.DecodeError, match=r"at /n: .*\(duplicate-key\)"):
        cw.decode(twice, format=FLAT)
    assert [issue.code for issue in cw.validate(twice, format=FLAT)] == ["duplicate-key"]


def test_digests_are_checked() -> None:
    """The places of a wrong digest are those of the message."""
    data = message({"n": 1}, {**WRITE, "userKey": 7}, name="m")
    with pytest.raises(cw.DecodeError) as caught:
        change(data, check_digests="reject")
    assert (caught.value.code, caught.value.pointer) == ("digest-mismatch", "/m/digest")
    assert "/m/set and /m/userKey" in str(caught.value)


KEY = {"namespace": "ns", "set": "set", "userKey": 7, "digest": DIGEST}


@pytest.mark.parametrize("key", [dumps(KEY), b64encode(dumps(KEY)), b" " + dumps(KEY)])
def test_record_keys_name_the_deleted_row(key: bytes) -> None:
    """A record without value is a delete; on Pulsar the key is Base64 text."""
    found = cw.delete_by_key(key, format=FLAT)
    assert found == cw.delete_by_key(dumps(["ns", "set", DIGEST, 7]), format=JSON)


@pytest.mark.parametrize(
    "key", [b"", b"x", dumps([KEY]), dumps(["ns", None, DIGEST, None]), b"QUI="]
)
def test_other_record_keys_name_no_row(key: bytes) -> None:
    """They are rejected as keys, whatever is wrong with them."""
    with pytest.raises(cw.DecodeError) as caught:
        cw.delete_by_key(key, format=FLAT)
    assert caught.value.code == "invalid-record-key"


def test_a_topic_may_carry_both_forms() -> None:
    """With the format auto each message is read by its own, and rows have one key."""
    options = DecodeOptions("auto")
    flat = message({"n": 1})
    both = [flat, dumps(unflattened(json.loads(flat))), b"[%b]" % flat]
    found = [element for data in both for element, _ in options.elements(data)]
    assert found[0] == found[1] == found[2]
    with_name = [cw.detect(data) for data in both]
    assert with_name == [FLAT, JSON, FLAT]
