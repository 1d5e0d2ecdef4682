"""Kafka records without value: control events, or deletes by their keys."""

from typing import Any

import msgpack
import pytest
from tests.runtime.tables.histories import rows

import changewire as cw
from changewire.changes.decode_options import DecodeOptions, Tombstones
from changewire.tables import (
    ChangePosition,
    MemoryTables,
    PositionedChange,
    Routing,
    apply_changes,
    template_of,
)

DIGEST = "YWJjZGVmZ2hpamtsbW5vcHFyc3Q="
KEY = f'["shop", "users", "{DIGEST}", "u-17"]'.encode()
PACKED = msgpack.packb(["shop", "users", b"abcdefghijklmnopqrst", "u-17"])


def element(format: str, key: bytes | None, tombstones: Tombstones = "delete", **more: Any) -> Any:
    """Return what becomes of a record without value."""
    ((found, used),) = DecodeOptions(format, tombstones=tombstones, **more).elements(None, key)
    assert used == []
    return found


@pytest.mark.parametrize(
    ("format", "key"), [("aerospike-json", KEY), ("aerospike-msgpack", PACKED)]
)
def test_an_aerospike_key_deletes_its_record(format: str, key: bytes) -> None:
    """The delete has the key, place and attributes of the record, and no sequence."""
    gone = element(format, key)
    assert (gone.op, gone.before, gone.after, gone.sequence) == ("delete", None, None, None)
    assert (gone.source.database, gone.source.table) == ("shop", "users")
    assert gone.attributes == {"set": "users", "user_key": "u-17", "tombstone": True}
    assert gone.key == {"aerospike_digest": b"abcdefghijklmnopqrst"}
    assert gone == cw.delete_by_key(key, format=format)


def test_a_lindorm_key_deletes_its_row() -> None:
    """Its columns name the row: all of them, those that are asked for, or the row key of HBase."""
    key = b'{"id": 7, "tenant": "a"}'
    gone = element("lindorm-json", key)
    assert (gone.op, gone.key, gone.source.table) == ("delete", {"id": 7, "tenant": "a"}, None)
    assert element("lindorm-json", key, key_columns=["tenant"]).key == {"tenant": "a"}
    assert element("lindorm-json", b'{"ROW": "AAE="}').key == {"ROW": b"\x00\x01"}


@pytest.mark.parametrize(
    ("format", "key", "place"),
    [
        ("aerospike-json", b'["shop", "users"]', "array"),
        ("aerospike-json", b"", "JSON"),
        ("aerospike-json", b"[" + KEY + b"]", "the key of one record"),
        ("aerospike-json", KEY.replace(b'"users"', b"1"), "at /1 of it"),
        ("aerospike-msgpack", KEY, "nothing after the message"),
        ("lindorm-json", b"7", "the columns that name a row"),
        ("lindorm-json", b'{"id": null}', "the columns that name a row"),
        ("lindorm-json", b"{}", "the columns that name a row"),
        ("lindorm-json", b'{"ROW": "!"}', "Base64"),
    ],
)
def test_a_key_that_names_no_row_is_a_dead_letter(format: str, key: bytes, place: str) -> None:
    """It says what a key has to be, and nothing of the value that it has."""
    found = element(format, key)
    assert (found.code, found.pointer, found.element) == ("invalid-record-key", "", 0)
    assert place in found.message
    assert "shop" not in found.message


def test_columns_that_are_asked_for_have_to_be_there() -> None:
    """A key without one of them names no row; the column is named."""
    found = element("lindorm-json", b'{"id": 7}', key_columns=["id", "tenant"])
    assert found.code == "invalid-record-key"
    assert "id, tenant" in found.message


@pytest.mark.parametrize("tombstones", ["ignore", "delete"])
def test_a_record_without_key_is_a_control_event(tombstones: Tombstones) -> None:
    """It names no row, so there is nothing to delete."""
    found = element("aerospike-json", None, tombstones)
    assert (found.op, found.attributes) == ("empty", {"tombstone": True})


def test_by_default_records_without_value_change_nothing() -> None:
    """Whoever did not ask for deletes gets control events, whatever the key is."""
    assert element("aerospike-json", KEY, "ignore").op == "empty"


@pytest.mark.parametrize(
    ("format", "tombstones", "reason"),
    [
        ("auto", "delete", "does not say its format"),
        ("dataworks-json", "delete", "no document says"),
        ("lindorm-json", "drop", "there are: ignore, delete"),
    ],
)
def test_options_that_do_not_fit_are_refused(format: str, tombstones: Any, reason: str) -> None:
    """Where keys do not name rows, no record is taken for a delete."""
    with pytest.raises(ValueError, match=reason):
        DecodeOptions(format, tombstones=tombstones)


def test_a_delete_that_names_no_database_goes_to_one_table_or_none() -> None:
    """A Lindorm key is that of many tables, so it deletes only where there is one target."""
    gone = PositionedChange(element("lindorm-json", b'{"id": 1}'), ChangePosition("t", 0, 1, 0))
    source = '"source": {"namespace": "n", "table": "t", "ts_ms": 1}'
    text = f'{{"payload": {{"op": "c", "ts_ms": 1, "after": {{"id": 1}}, {source}}}}}'
    ((row, _),) = DecodeOptions("lindorm-json", key_columns=["id"]).elements(text.encode())
    assert isinstance(row, cw.Change)
    written = PositionedChange(row, ChangePosition("t", 0, 0, 0))
    one, many = MemoryTables(), MemoryTables()
    apply_changes(one, [written, gone], Routing(template_of("t")))
    ((table,),) = ([*one.tables.values()],)
    assert not [*table.content()]
    result = apply_changes(many, [written, gone], Routing(template_of("{table}")))
    assert rows(many) == [{"id": 1}]
    assert result.refused == [(gone, "table-missing")]
