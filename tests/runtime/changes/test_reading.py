"""How the messages of a topic are read."""

from typing import Any

import pytest
from msgspec.json import encode

import changewire as cw
from changewire.changes.reading import Reading

SCHEMA = {"dataColumn": [{"name": "n", "type": "DOUBLE"}], "primaryKey": None, "source": None}
SOURCE = {"namespace": "n", "table": "t", "ts_ms": 1}
ROW = {"ROW": "AAE=", "f_g_a": "Ag=="}
HBASE = {"payload": {"op": "c", "ts_ms": 1, "after": ROW, "source": SOURCE}}


def insert(row: Any, **more: Any) -> bytes:
    """Return the bytes of a DataWorks insert."""
    payload = {"op": "INSERT", "after": {"dataColumn": row}, "timestamp": {"eventTime": 5}, **more}
    return encode({"schema": SCHEMA, "payload": payload, "version": "0.0.1"})


def test_leniencies_of_message_and_change_are_one_list() -> None:
    """An element tells what its message needed to be decoded, and what its values needed."""
    delete = b'{"schema":{"dataColumn":null},"payload":{"op":"DELETE","before":{"dataColumn":'
    delete += b'{"x":1}},"after":{"dataColumn":{}},"timestamp":{"eventTime":5}},"version":"1"}'
    ((change, used),) = Reading("dataworks-json").elements(delete)
    assert isinstance(change, cw.Change)
    assert change.attributes["leniencies"] == ["undeclared-column"]
    assert used == ["after-on-delete", "undeclared-column"]
    ((_, used),) = Reading("dataworks-json").elements(insert({"n": "1.10", "x": 1}))
    assert used == ["numeric-text", "undeclared-column"]


def test_keys_families_and_image_reach_the_changes() -> None:
    """What the reader says of a topic holds for each of its messages."""
    reading = Reading("lindorm-json", "patch", keys=["f_g:a"], families=["f", "f_g"])
    ((change, _),) = reading.elements(encode(HBASE))
    assert isinstance(change, cw.Change)
    assert (change.key, change.after) == (
        {"f_g:a": b"\x02"},
        {"ROW": b"\x00\x01", "f_g:a": b"\x02"},
    )
    assert change.attributes["image"] == "patch"
    ((change, _),) = Reading("dataworks-json", keys=("n",)).elements(insert({"n": 1}))
    assert isinstance(change, cw.Change)
    assert change.key == {"n": 1}


def test_a_contradiction_is_a_rejection() -> None:
    """A message whose values contradict its schema is refused; the topic goes on."""
    ((found, used),) = Reading("dataworks-json").elements(insert({"n": True}))
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
        ("lindorm-json", {"image": "half"}, "no image 'half'; there are: full, patch, keys"),
        ("lindorm-json", {"keys": "id"}, "keys is a sequence of names, at least one"),
        ("lindorm-json", {"keys": []}, "keys is a sequence of names, at least one"),
        ("lindorm-json", {"families": ()}, "families is a sequence of names, at least one"),
        ("dataworks-json", {"families": ["f"]}, "tables have no column families"),
        ("aerospike-json", {"families": ["f"]}, "records have no column families"),
        ("aerospike-json", {"keys": ["a"]}, "keys does not apply to aerospike-json: rows are"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(format: str, options: Any, text: str) -> None:
    """What has no meaning in the format is refused before the first message."""
    with pytest.raises(ValueError, match=text):
        Reading(format, **options)


@pytest.mark.parametrize("options", [{"keys": "id"}, {"families": ["f"]}])
def test_changes_refuses_the_same(options: Any) -> None:
    """The function for one message checks its options alike."""
    message = cw.decode(insert({"n": 1}), format="dataworks-json")
    with pytest.raises(ValueError, match=r"keys is|does not apply"):
        cw.changes(message, **options)
