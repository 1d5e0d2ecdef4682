"""Lindorm messages as changes."""

from datetime import date, datetime, timezone
from decimal import Decimal
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes.lindorm import ABSENT, TS_MS, change, declared, message
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import thorough

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire_messages.lindorm_json import strategies

ROW = {"id": 1, "name": "a"}
COLUMNS = declared(id="int64", name={"type": "string", "optional": True})


@pytest.mark.parametrize(
    ("op", "rows", "expected"),
    [
        ("c", {"before": None, "after": ROW}, "insert"),
        ("u", {"before": ROW, "after": ROW}, "update"),
        ("u", {"before": None, "after": ROW}, "update"),
        ("u", {"after": ROW}, "update"),
        ("d", {"before": ROW, "after": None}, "delete"),
        ("d", {"before": None, "after": None}, "delete"),
        ("d", {}, "delete"),
        ("r", {"after": ROW}, "read"),
    ],
)
@pytest.mark.parametrize("schema", [ABSENT, COLUMNS])
def test_operations(op: str, rows: Any, expected: str, schema: Any) -> None:
    """Each operation is one change with the images of the message, which may be missing."""
    found = change(op, schema, key_columns=["id"], **rows)
    assert found.op == expected
    assert (found.before, found.after) == (rows.get("before"), rows.get("after"))
    assert (found.key, found.before_key) == ({"id": 1} if any(rows.values()) else None, None)
    assert found.source == cw.Source(system="lindorm", database="shop", schema=None, table="users")


def test_time_and_sequence() -> None:
    """The time at which the row changed orders; when the message was written is an attribute."""
    found = change("d")
    assert found.event_time == datetime(2016, 6, 9, 16, 56, 51, 807000, tzinfo=timezone.utc)
    assert found.sequence == cw.Sequence(major=TS_MS, minor=0)
    assert found.attributes == {"op": "d", "ts_ms": TS_MS + 4, "row_image": "full"}


def test_attributes_are_what_only_lindorm_has() -> None:
    """The instance, the version and unknown properties go along; the image is the reader's."""
    source = {"namespace": "n", "table": "t", "ts_ms": 5, "db": "ld-1", "version": "v1.0"}
    model = message("d", source=source, txId=7)
    (found,) = cw.changes(model, row_image="keys")
    assert found.attributes == {
        "op": "d",
        "ts_ms": TS_MS + 4,
        "row_image": "keys",
        "db": "ld-1",
        "version": "v1.0",
        "extra": {"/payload/txId": 7},
    }


@pytest.mark.parametrize("schema", [ABSENT, None, {}, b"{ }", b" null"])
def test_messages_without_a_schema(schema: Any) -> None:
    """An absent, null or empty schema says nothing: values stay as JSON has them."""
    found = change("c", schema, after={"t": 5, "b": "AAE="})
    assert (found.after, found.schema_fingerprint) == ({"t": 5, "b": "AAE="}, None)
    assert "leniencies" not in found.attributes


def test_a_schema_types_both_rows() -> None:
    """Values become what the schema declares: bytes, times and decimals with every digit."""
    decimal = {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal"}
    schema = declared(
        id="int64",
        raw="bytes",
        day={"type": "int32", "name": "org.apache.kafka.connect.data.Date"},
        price={**decimal, "parameters": {"scale": "2"}},
    )
    row = {"id": 2**63 - 1, "raw": "AAE=", "day": 1, "price": "MDk="}
    typed = {
        "id": 2**63 - 1,
        "raw": b"\x00\x01",
        "day": date(1970, 1, 2),
        "price": Decimal("123.45"),
    }
    found = change("u", schema, before=row, after=row, key_columns=["day"])
    assert (found.before, found.after, found.key) == (typed, typed, {"day": date(1970, 1, 2)})


def test_a_contradiction_names_both_places() -> None:
    """A value of another type is refused, with its place and the place of its type."""
    with pytest.raises(cw.DecodeError) as caught:
        change("u", COLUMNS, before={"id": "1"}, after=ROW)
    (issue,) = caught.value.issues
    assert (issue.code, issue.pointer, issue.actual) == (
        "contradicts-schema",
        "/payload/before/id",
        "1",
    )
    assert issue.expected.endswith(", as /schema/fields/0/fields/0 says")


def test_a_row_that_is_declared_as_a_value_is_refused() -> None:
    """A schema may make a number of a whole row, which then is no row."""
    plain = [{"field": "scale", "type": "int32"}, {"field": "value", "type": "bytes"}]
    name = "io.debezium.data.VariableScaleDecimal"
    field = {"field": "after", "type": "struct", "name": name, "fields": plain}
    schema = {"type": "struct", "fields": [field]}
    with pytest.raises(cw.DecodeError) as caught:
        change("c", schema, after={"scale": 1, "value": "AQ=="})
    assert (caught.value.code, caught.value.pointer) == ("contradicts-schema", "/payload/after")
    for kind in ({"type": "string"}, {"type": "array", "items": {"type": "string"}}):
        with pytest.raises(cw.DecodeError, match="contradicts-schema"):
            change("c", {"type": "struct", "fields": [{"field": "after", **kind}]}, after=ROW)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "record"}, "/schema/type"),
        ({"type": "struct", "fields": [{"type": "int32"}]}, "/schema/fields/0/field"),
        ({"type": "array"}, "/schema/items"),
    ],
)
def test_an_invalid_schema_is_refused(schema: Any, pointer: str) -> None:
    """A schema that is none of Kafka Connect refuses its message, with the place in the schema."""
    with pytest.raises(cw.DecodeError) as caught:
        change("d", schema)
    assert (caught.value.code, caught.value.pointer) == ("invalid-schema", pointer)


def test_columns_that_are_absent_or_null() -> None:
    """A deleted column is absent from the row after; null stays null, also beside a default."""
    schema = declared(id="int64", n={"type": "string", "optional": True, "default": "x"})
    found = change("u", schema, before={"id": 1, "n": "a"}, after={"id": 1}, key_columns=["id"])
    assert (found.before, found.after) == ({"id": 1, "n": "a"}, {"id": 1})
    assert change("c", schema, after={"id": 1, "n": None}).after == {"id": 1, "n": None}
    assert "leniencies" not in found.attributes


def test_notes_of_the_schema_are_leniencies() -> None:
    """What the schema does not promise is counted by its name, for each row."""
    found = change("u", declared(x="float64"), before={"x": 1.5}, after={"x": 1, "y": 2})
    assert found.attributes["leniencies"] == ["float-alias", "float-alias", "undeclared-field"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"id":1}', {"id": 1}),
        (b'{"schema":{"type":"struct"},"payload":{"id":1}}', {"id": 1}),
        (b'{"schema":null,"payload":{"id":1}}', {"id": 1}),
        (b'{"id":12345678901234567890123}', {"id": 12345678901234567890123}),
        (b'{"id":null}', None),
        *(
            (data, None)
            for data in (None, b"", b"{}", b"1", b"[1]", b"id", b"\xff", b"[" * 9999, b'"a"')
        ),
        (b'{"schema":{"type":"int64"},"payload":1}', None),
        (b'{"id":1e99999999999999999999}', None),
    ],
)
def test_record_keys(data: bytes | None, expected: Any) -> None:
    """A record key that is a JSON object names the row, also in an envelope; any other does not."""
    found = change("d", record_key=data)
    assert (found.key, found.before_key) == (expected, None)


def test_the_key_is_the_same_with_and_without_images() -> None:
    """A key has the types of the row, whether it comes from the row or from the record key."""
    schema = declared(id={"type": "int32", "name": "org.apache.kafka.connect.data.Date"})
    expected = {"id": date(1970, 1, 2)}
    assert change("c", schema, after={"id": 1}, record_key=b'{"id":1}').key == expected
    assert change("d", schema, record_key=b'{"id":1}').key == expected
    assert change("d", schema, record_key=b'{"id":"x"}').key == {"id": "x"}
    number = {"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}
    parts = [{"field": "scale", "type": "int32"}, {"field": "value", "type": "bytes"}]
    odd = {"type": "struct", "fields": [{"field": "after", "fields": parts, **number}]}
    assert change("d", odd, record_key=b'{"scale":1,"value":"AQ=="}').key == {
        "scale": 1,
        "value": "AQ==",
    }


DATE = {"type": "int32", "name": "org.apache.kafka.connect.data.Date"}


@pytest.mark.parametrize(
    ("schema", "payload", "expected"),
    [
        ({"type": "struct", "fields": [{"field": "id", **DATE}]}, {"id": 1}, date(1970, 1, 2)),
        ({"type": "struct", "fields": [{"field": "id", "type": "bytes"}]}, {"id": "QQ=="}, b"A"),
        ({"type": "struct", "fields": [{"field": "id", **DATE}]}, {"id": "x"}, "x"),
        ({"type": "int63"}, {"id": 1}, 1),
        ({}, {"id": 1}, 1),
        (None, {"id": 1}, 1),
    ],
)
def test_a_record_key_is_read_by_its_own_schema(schema: Any, payload: Any, expected: Any) -> None:
    """A key that says its types has those; without a schema of use it has those of the row."""
    key = dumps({"schema": schema, "payload": payload})
    assert change("d", declared(id="int64"), record_key=key).key == {"id": expected}


def test_an_envelope_has_schema_and_payload_alone() -> None:
    """An object with more than these two is a row that has columns of such names."""
    key = b'{"schema":{"type":"int32"},"payload":{"id":1},"id":2}'
    assert change("d", key_columns=["id"], record_key=key).key == {"id": 2}


def test_keys_are_those_of_the_reader() -> None:
    """The reader's columns are the key; what a row lacks is in the record key or the row before."""
    found = change("c", after=ROW, key_columns=["name", "id"], record_key=b'{"other":1}')
    assert list(found.key or ()) == ["name", "id"]
    assert change("d", key_columns=["id"], record_key=b'{"id":7,"x":1}').key == {"id": 7}
    assert change("u", before=ROW, after={"name": "b"}, key_columns=["id"]).key == {"id": 1}
    assert change("c", after={"name": "b"}, key_columns=["id"]).key is None
    assert change("c", after={"id": None}, key_columns=["id"]).key is None
    assert change("c", after=ROW).key is None


def test_an_update_may_move_a_row() -> None:
    """Where the key before an update is another one, the change has both."""
    found = change("u", before={**ROW, "id": 0}, after=ROW, key_columns=["id"])
    assert (found.before_key, found.key) == ({"id": 0}, {"id": 1})
    assert change("u", before={"name": "x"}, after=ROW, key_columns=["id"]).before_key is None


@pytest.mark.parametrize(("before", "after"), [(True, 1), ([1], [1.0])])
def test_a_row_moves_between_keys_that_python_calls_equal(before: Any, after: Any) -> None:
    """Keys are those of tables, where no truth value is a number, and arrays are their text."""
    found = change("u", before={"id": before}, after={"id": after}, key_columns=["id"])
    assert repr((found.before_key, found.key)) == repr(({"id": before}, {"id": after}))
    assert change("u", before={"id": 1.0}, after={"id": 1}, key_columns=["id"]).before_key is None


def test_what_contradicts_its_operation_moves_no_row() -> None:
    """A delete has no row after, and an insert no key before, whatever the message holds."""
    other = {**ROW, "id": 2}
    found = change("d", before=ROW, after=other, key_columns=["id"])
    assert (found.key, found.before_key, found.after) == ({"id": 1}, None, None)
    found = change("c", before=ROW, after=other, key_columns=["id"])
    assert (found.key, found.before_key) == ({"id": 2}, None)


def test_fingerprints_are_of_the_text() -> None:
    """Equal text has an equal fingerprint, the first 32 digits of its SHA-256; others differ."""
    text = b'{"type": "struct", "fields": []}'
    found = change("d", text).schema_fingerprint
    assert found == sha256(text).hexdigest()[:32]
    assert found == change("c", text, after={}).schema_fingerprint
    assert found != change("d", text.replace(b" ", b"")).schema_fingerprint


@thorough
@given(wire=strategies.message(), row_image=st.sampled_from(["full", "patch", "keys"]))
def test_every_message_is_one_change_or_refused(wire: Any, row_image: Any) -> None:
    """A message that decodes has exactly one change, or contradicts its own schema."""
    model = cw.decode(dumps(wire), format="lindorm-json")
    codes, found = set[str](), list[cw.Change]()
    try:
        found = cw.changes(model, row_image=row_image)
    except cw.DecodeError as error:
        codes.add(error.code)
    assert codes <= {"contradicts-schema", "invalid-schema", "invalid-base64"}
    assert len(found) + len(codes) == 1
    for one in found:
        assert one.attributes["op"] == wire.get("payload", wire)["op"]
        assert (one.op == "delete") == (one.after is None)


def test_keys_by_table() -> None:
    """They are those of the table that the message names; a record without value names none."""
    keys = {"shop.users": ["id"], "*.orders": ["name"]}
    assert change("c", after=ROW, key_columns=keys).key == {"id": 1}
    assert change("c", after=ROW, key_columns={"shop.orders": ["id"]}).key is None
    hbase = {"ROW": "AAE="}
    assert change("c", after=hbase, key_columns={"shop.orders": ["id"]}).key == {"ROW": b"\x00\x01"}
    assert change("c", after=hbase, key_columns={"shop.*": ["ROW"]}).key == {"ROW": "AAE="}
    for each, key in ((keys, {"id": 7, "x": 1}), ({**keys, "*": ["id"]}, {"id": 7})):
        options = DecodeOptions("lindorm-json", key_columns=each, tombstones="delete")
        ((deleted, _),) = options.elements(None, b'{"id":7,"x":1}')
        assert isinstance(deleted, cw.Change)
        assert deleted.key == key
