"""Which schemas stand in the messages of a topic, and what each changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runtime.changes import dataworks, lindorm

import changewire as cw
from changewire.framing import Position, Record

ID, NAME = {"id": "LONG"}, {"id": "LONG", "name": "STRING"}
AGE = {"id": "DOUBLE", "age": "LONG"}


def dataworks_message(types: Any) -> bytes:
    """Return an insert whose schema declares some columns."""
    return cw.encode(dataworks.message("INSERT", types, after={"id": 1}))


def lindorm_message(*columns: Any, **types: Any) -> bytes:
    """Return an insert whose schema declares some columns; with an argument, that is the schema."""
    schema = columns[0] if columns else lindorm.declared(**types)
    return cw.encode(lindorm.message("c", schema, after={}))


def test_columns_come_go_and_change() -> None:
    """Each schema has its count, its first and last message, and what it changed."""
    topic = [dataworks_message(types) for types in (ID, ID, NAME, AGE, ID)]
    found = cw.schemas(topic, format="dataworks-json")
    assert [(s.count, s.first.number, s.last.number) for s in found.schemas] == [
        (3, 0, 4),
        (1, 2, 2),
        (1, 3, 3),
    ]
    assert [s.columns for s in found.schemas] == [
        {"/id": "LONG"},
        {"/id": "LONG", "/name": "STRING"},
        {"/id": "DOUBLE", "/age": "LONG"},
    ]
    assert [s.differences for s in found.schemas] == [
        [],
        [cw.Difference("/name", "added", None, "STRING")],
        [
            cw.Difference("/id", "type-changed", "LONG", "DOUBLE"),
            cw.Difference("/name", "removed", "STRING", None),
            cw.Difference("/age", "added", None, "LONG"),
        ],
    ]
    assert (found.messages, found.without, found.rejected, found.left_out) == (5, 0, 0, 0)


def test_columns_of_kafka_connect() -> None:
    """Columns of rows are listed by pointer, nested ones too, and null is part of the type."""
    address = {"type": "struct", "fields": [{"field": "city", "type": "string", "optional": True}]}
    topic = [lindorm_message(id="int64"), lindorm_message(id="int64", address=address)]
    old, new = cw.schemas(topic, format="lindorm-json").schemas
    assert old.columns == {"/id": "int64"}
    assert new.columns == {"/id": "int64", "/address": "struct", "/address/city": "string"}
    assert [(d.path, d.kind, d.new) for d in new.differences] == [
        ("/address", "added", "struct"),
        ("/address/city", "added", "string?"),
    ]


def test_fingerprints_are_those_of_changes() -> None:
    """A schema is listed under the fingerprint that its changes have."""
    topics = {
        "dataworks-json": dataworks_message(NAME),
        "lindorm-json": lindorm_message(id="int64"),
    }
    for name, message in topics.items():
        (use,) = cw.schemas([message], format=name).schemas
        (change,) = cw.changes(cw.decode(message, format=name))
        assert use.fingerprint == change.schema_fingerprint
        assert use.source == change.source


def test_tables_are_told_apart() -> None:
    """A schema is compared with the one before it of the same table."""
    other = dataworks_message(AGE).replace(b'"users"', b'"items"')
    topic = [dataworks_message(ID), other, dataworks_message(NAME)]
    found = cw.schemas(topic, format="dataworks-json").schemas
    assert [(s.source.table, len(s.differences)) for s in found] == [
        ("users", 0),
        ("items", 0),
        ("users", 1),
    ]


def test_every_message_is_counted() -> None:
    """Messages without schema, refused ones and records without value are counted apart."""
    topic = [lindorm_message({}), lindorm_message(None), None, b"{", lindorm_message({"type": "x"})]
    found = cw.schemas([*topic, lindorm_message(id="int8")], format="lindorm-json")
    assert (found.messages, found.without, found.rejected) == (6, 3, 2)
    assert [s.count for s in found.schemas] == [1]
    heartbeat = cw.encode(dataworks.message("MHEARTBEAT", {}))
    assert cw.schemas([heartbeat], format="dataworks-json").without == 1


def test_the_list_is_bounded() -> None:
    """Beyond the limit messages are counted and schemas are not listed."""
    topic = [dataworks_message({f"c{i}": "LONG"}) for i in (0, 1, 2, 0)]
    found = cw.schemas(topic, format="dataworks-json", limit=2)
    assert [s.columns for s in found.schemas] == [{"/c0": "LONG"}, {"/c1": "LONG"}]
    assert (found.messages, found.left_out) == (4, 1)


def test_positions_order_the_schemas() -> None:
    """Kafka's timestamps, then topic, partition and offset say which message came first."""
    places = [(7, 1, 1), (5, 2, 0), (5, 1, 9)]
    topic = [
        Record(None, dataworks_message(types), Position(timestamp=t, partition=p, offset=o))
        for types, (t, p, o) in zip((ID, NAME, ID), places, strict=True)
    ]
    found = cw.schemas(topic, format="dataworks-json").schemas
    assert [(s.first.timestamp, s.first.partition, s.last.timestamp) for s in found] == [
        (5, 1, 7),
        (5, 2, 5),
    ]


def test_formats_without_schemas_are_refused() -> None:
    """Aerospike messages carry no schema, which is said before any message is read."""
    with pytest.raises(ValueError, match="aerospike-json carry no schema; those of dataworks-json"):
        cw.schemas([], format="aerospike-json")
    with pytest.raises(ValueError, match="no format"):
        cw.schemas([], format="x")


GOOD = {
    "dataworks-json": dataworks_message(NAME),
    "lindorm-json": lindorm_message(id="int64", name="string"),
}


@pytest.mark.parametrize("spoilt", [b'"\xff"', b'"\\ud800"', b"[" * 30_000 + b"]" * 30_000])
def test_a_schema_that_is_no_json_is_refused(spoilt: bytes) -> None:
    """Decoding does not look into unknown properties; listing does, and refuses."""
    message = GOOD["dataworks-json"].replace(
        b'"dataColumn"', b'"x":' + spoilt + b',"dataColumn"', 1
    )
    found = cw.schemas([message, GOOD["dataworks-json"]], format="dataworks-json")
    assert (found.rejected, [use.count for use in found.schemas]) == (1, [1])


@pytest.mark.parametrize("name", sorted(GOOD))
@settings(deadline=None)
@given(data=st.data())
def test_no_message_ends_the_listing(name: str, data: st.DataObject) -> None:
    """Whatever bytes a message has, it is counted once, and the listing goes on."""
    good = GOOD[name]
    at = data.draw(st.integers(0, len(good) - 1))
    message = good[:at] + data.draw(st.binary(max_size=3)) + good[at + 1 :]
    found = cw.schemas([message, good], format=name)
    assert found.messages == found.without + found.rejected + sum(u.count for u in found.schemas)
    assert any(use.text.encode() in good for use in found.schemas)
