"""DataWorks messages as changes."""

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes.dataworks import EVENT_TIME, SEQUENCE, change, decoded, message
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import thorough

import changewire as cw
from changewire_messages.dataworks_json import strategies

ROW = {"id": 1, "name": "a"}
MOVED = {"id": 2, "name": "a"}


@pytest.mark.parametrize(
    ("op", "rows", "expected"),
    [
        ("INSERT", {"after": ROW}, "insert"),
        ("UPDATE_AFTER", {"before": ROW, "after": ROW}, "update"),
        ("UPDATE_AFTER", {"after": ROW}, "update"),
        ("UPDATE_BEFOR", {"before": ROW}, "update"),
        ("UPDATE_BEFORE", {"before": ROW}, "update"),
        ("DELETE", {"before": ROW}, "delete"),
    ],
)
def test_operations_on_rows(op: str, rows: Any, expected: str) -> None:
    """Each operation on a row is one change, with the images of the message and the row's key."""
    found = change(op, **rows)
    assert found.op == expected
    assert (found.before, found.after) == (rows.get("before"), rows.get("after"))
    assert (found.key, found.before_key) == ({"id": 1}, None)
    assert found.source == cw.Source(
        system="dataworks", database="shop", schema=None, table="users"
    )
    assert (found.attributes["op"], found.attributes["row_image"]) == (op, "full")


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        *((op, "ddl") for op in ("CREATE", "ALTER", "RENAME", "ERASE", "CINDEX", "DINDEX")),
        *((op, "transaction") for op in ("TRANSACTION_BEGIN", "TRANSACTION_END", "GTID")),
        *((op, "transaction") for op in ("XACOMMIT", "XAROLLBACK")),
        ("QUERY", "statement"),
        ("TRUNCATE", "truncate"),
        ("MHEARTBEAT", "heartbeat"),
        ("SAVEPOINT", "other"),
    ],
)
def test_operations_that_are_control_events(op: str, expected: str) -> None:
    """An operation that names no row is a control event without key, images and `row_image`."""
    found = change(op)
    assert found.op == expected
    assert (found.key, found.before_key, found.before, found.after) == (None,) * 4
    assert found.attributes["op"] == op
    assert "row_image" not in found.attributes


def test_a_key_update_has_both_keys() -> None:
    """An update that changes the key is one change with the key before and after."""
    found = change("UPDATE_AFTER", before=ROW, after=MOVED)
    assert (found.before_key, found.key) == ({"id": 1}, {"id": 2})
    keys = {"before": {"id": True}, "after": {"id": 1}, "key_columns": ["id"]}
    found = change("UPDATE_AFTER", types={}, **keys)
    assert repr((found.before_key, found.key)) == "({'id': True}, {'id': 1})"
    assert found.sequence == cw.Sequence(major=SEQUENCE, minor=1)


@pytest.mark.parametrize("op", ["DELETE", "UPDATE_BEFOR", "UPDATE_BEFORE"])
def test_a_row_after_that_does_not_belong(op: str) -> None:
    """A delete, and a lone row before, name the row before and have no row after."""
    found = change(op, before=ROW, after=MOVED)
    assert (found.key, found.before_key, found.before, found.after) == ({"id": 1}, None, ROW, None)


def test_an_insert_moves_no_row() -> None:
    """An insert with a row before has no key before: it must not delete another row."""
    found = change("INSERT", before=ROW, after=MOVED)
    assert (found.key, found.before_key) == ({"id": 2}, None)
    assert cw.leniencies(message("DELETE", before=ROW, after=MOVED)) == ["after-on-delete"]


@pytest.mark.parametrize(
    "hidden", ["#alibaba_rds_row_id#", "__#alibaba_rds_row_id#__", "_drds_implicit_id_"]
)
@pytest.mark.parametrize("primary_key", [None, []])
def test_keys_without_a_primary_key(hidden: str, primary_key: Any) -> None:
    """Without a primary key the hidden row id names the row; Oracle's rowid only if asked."""
    row = {"name": "a", hidden: 15, "rowid": "AAAB"}
    given: Any = {"primary_key": primary_key, "after": row}
    assert change("INSERT", **given).key == {hidden: 15}
    assert change("INSERT", key_columns=["rowid"], **given).key == {"rowid": "AAAB"}
    del row[hidden]
    assert change("INSERT", **given).key is None


def test_keys_are_in_place_of_the_primary_key() -> None:
    """Columns that the reader names are the key, in their order, also of the row before."""
    found = change("UPDATE_AFTER", key_columns=["name", "id"], before=ROW, after=MOVED)
    assert list(found.key or ()) == ["name", "id"]
    assert found.before_key == {"name": "a", "id": 1}


def test_a_primary_key_in_another_case() -> None:
    """A name that one column has if case is ignored is this column, and is counted."""
    found = change("UPDATE_AFTER", primary_key=["ID", "name"], before=ROW, after=MOVED)
    assert (found.key, found.before_key) == ({"id": 2, "name": "a"}, {"id": 1, "name": "a"})
    assert found.attributes["leniencies"] == ["primary-key-case"]
    assert found.after == MOVED
    undeclared = change("INSERT", types={}, primary_key=["ID"], after={"id": 1})
    assert undeclared.key == {"id": 1}


def test_a_key_of_many_columns() -> None:
    """A key may have as many columns as a row, in another case."""
    names = [f"ID{i}" for i in range(800)]
    row = {name.lower(): 1 for name in names}
    found = change("INSERT", types={}, primary_key=names, after=row)
    assert found.key == row


def test_a_name_that_a_column_has_is_that_column() -> None:
    """Case is ignored only for names that no column has, declared or in the row."""
    types = {"id": "LONG", "ID": "LONG"}
    found = change("INSERT", types=types, primary_key=["ID"], after={"id": 1, "ID": 2})
    assert (found.key, "leniencies" in found.attributes) == ({"ID": 2}, False)
    found = change("INSERT", primary_key=["Id"], after={"id": 1, "Id": 2})
    assert (found.key, found.attributes["leniencies"]) == ({"Id": 2}, ["undeclared-column"])


@pytest.mark.parametrize(
    ("primary_key", "types", "place", "several"),
    [
        (["no"], {"id": "LONG"}, 0, ""),
        (["id", "no"], {"id": "LONG"}, 1, ""),
        (["ID"], {"id": "LONG", "Id": "LONG"}, 0, ", but several differ from it in case only"),
    ],
)
def test_a_primary_key_that_names_no_column(
    primary_key: Any, types: Any, place: int, several: str
) -> None:
    """A name that no column has, or several if case is ignored, is an issue of the schema."""
    given: Any = {"primary_key": primary_key, "types": types, "after": {"id": 1}}
    with pytest.raises(cw.DecodeError) as caught:
        change("INSERT", **given)
    (issue,) = caught.value.issues
    assert (issue.code, issue.pointer) == ("invalid-schema", f"/schema/primaryKey/{place}")
    assert issue.expected == f"the name of a column in /schema/dataColumn{several}"
    assert cw.validate(message("INSERT", **given), format="dataworks-json") == [issue]
    assert change("INSERT", key_columns=["id"], **given).key == {"id": 1}
    assert change("MHEARTBEAT", primary_key=primary_key, types=types).key is None


@pytest.mark.parametrize("row_image", ["patch", "keys"])
def test_the_key_of_a_patch_may_be_in_the_row_before(row_image: str) -> None:
    """A column of the key that did not change is taken from the row before."""
    types = {"a": "LONG", "b": "LONG", "name": "STRING"}
    given: Any = {"types": types, "primary_key": ["a", "b"], "row_image": row_image}
    found = change("UPDATE_AFTER", before={"a": 1, "b": 2}, after={"name": "x"}, **given)
    assert (found.key, found.before_key, found.after) == ({"a": 1, "b": 2}, None, {"name": "x"})
    found = change("UPDATE_AFTER", before={"a": 1, "b": 2}, after={"b": 3}, **given)
    assert (found.key, found.before_key) == ({"a": 1, "b": 3}, {"a": 1, "b": 2})
    found = change("UPDATE_AFTER", before={"a": 1, "b": 2}, after={"b": None}, **given)
    assert found.key is None


def test_a_hidden_key_of_a_patch_may_be_in_the_row_before() -> None:
    """The hidden row id does not change, so a patch need not have it after the update."""
    hidden = {"_drds_implicit_id_": 5}
    given: Any = {"primary_key": None, "row_image": "patch"}
    found = change("UPDATE_AFTER", before=hidden, after={"name": "x"}, **given)
    assert (found.key, found.before_key) == (hidden, None)


@pytest.mark.parametrize("row", [{"name": "a"}, {"id": None, "name": "a"}, {}])
def test_rows_without_their_key(row: Any) -> None:
    """A full row in which a column of the key is absent or null has no key."""
    found = change("UPDATE_AFTER", before=ROW, after=row)
    assert (found.key, found.before_key, found.after) == (None, None, row)


@pytest.mark.parametrize(
    ("op", "text", "expected"),
    [
        ("INSERT", str(SEQUENCE), (SEQUENCE, 1)),
        ("UPDATE_AFTER", str(2**63 - 1), (2**63 - 1, 1)),
        ("DELETE", "7", (7, 1)),
        ("UPDATE_BEFOR", "7", (7, 0)),
        ("UPDATE_BEFORE", "7", (7, 0)),
        ("INSERT", "-1", (-1, 1)),
        ("TRUNCATE", "8", (8, 1)),
        ("MHEARTBEAT", None, None),
    ],
)
def test_sequence(op: str, text: Any, expected: Any) -> None:
    """The sequence is ``sequenceId`` as a number; a lone row before sorts before its row after."""
    found = change(op, before=ROW, after=ROW, sequenceId=text).sequence
    assert (found and (found.major, found.minor)) == expected


@pytest.mark.parametrize(
    "text", ["", "x", "1.0", "-2", "+1", " 1", "1_0", "\u0661", str(2**63), "0" * 20]
)
def test_a_sequence_that_is_no_number_is_refused(text: str) -> None:
    """A ``sequenceId`` that is no integer of 64 bits is refused: it would order nothing."""
    with pytest.raises(cw.DecodeError) as caught:
        change("INSERT", after=ROW, sequenceId=text)
    assert (caught.value.code, caught.value.pointer) == ("wrong-value", "/payload/sequenceId")


def test_times() -> None:
    """The event time is in UTC, none for -1; the other times stay milliseconds."""
    times = {"eventTime": EVENT_TIME, "systemTime": 5, "checkpointTime": -1}
    found = change("INSERT", after=ROW, timestamp=times)
    assert found.event_time == datetime(2021, 5, 8, 7, 11, 36, tzinfo=timezone.utc)
    assert (found.attributes["system_time"], found.attributes["checkpoint_time"]) == (5, -1)
    found = change("INSERT", after=ROW, timestamp={"eventTime": -1}, sequenceId="-1")
    assert found.event_time is None
    assert "system_time" not in found.attributes


def test_ddl_keeps_its_text_and_opaque_bytes() -> None:
    """The statement is text that nobody runs, ``ddlMeta`` bytes that nobody reads."""
    ddl = {"text": "ALTER TABLE users ADD x INT", "ddlMeta": "rO0ABXQAA2RkbA=="}
    found = change("ALTER", ddl=ddl)
    assert found.ddl == "ALTER TABLE users ADD x INT"
    assert found.attributes["ddl_meta"] == b"\xac\xed\x00\x05t\x00\x03ddl"
    for empty in (None, {}, {"text": None}, {"text": ""}):
        assert change("ALTER", ddl=empty).ddl is None


def test_a_heartbeat_may_have_no_table() -> None:
    """The schema of a heartbeat has null everywhere, so its source is the system alone."""
    schema = {"dataColumn": None, "primaryKey": None, "source": None}
    payload = {"op": "MHEARTBEAT", "timestamp": {"eventTime": 5}, "sequenceId": None}
    (found,) = cw.changes(decoded({"schema": schema, "payload": payload, "version": "0.0.1"}))
    assert found.source == cw.Source(system="dataworks", database=None, schema=None, table=None)
    assert found.attributes == {"op": "MHEARTBEAT", "version": "0.0.1"}


def test_an_unknown_operation_keeps_all() -> None:
    """What an operation holds that is not known is kept as JSON has it, checked by nothing."""
    found = change("SAVEPOINT", before={"id": "no number"}, sequenceId=7, timestamp=None, scn="9")
    assert found.attributes["payload"] == {
        "before": {"dataColumn": {"id": "no number"}},
        "sequence_id": 7,
        "scn": "9",
        "timestamp": None,
        "ddl": None,
    }
    assert (found.sequence, found.event_time) == (None, None)
    assert type(found.attributes["op"]) is str


def test_attributes_are_what_only_dataworks_has() -> None:
    """The kind of database, version, SCN and unknown properties go along; absent stays absent."""
    found = change("INSERT", after=ROW, scn="42", node="n-1")
    assert found.attributes == {
        "db_type": "MySQL",
        "op": "INSERT",
        "version": "0.0.1",
        "scn": "42",
        "row_image": "full",
        "extra": {"/payload/node": "n-1"},
    }


def test_fingerprints() -> None:
    """Equal schemas have equal fingerprints, 32 hex digits; other columns another one."""
    one, same = change("INSERT", after=ROW), change("DELETE", before=ROW)
    other = change("INSERT", after=ROW, types={"id": "LONG"})
    assert one.schema_fingerprint == same.schema_fingerprint != other.schema_fingerprint
    assert len(one.schema_fingerprint or "") == 32


@thorough
@given(wire=strategies.message(), row_image=st.sampled_from(["full", "patch", "keys"]))
def test_every_message_is_one_change_or_refused(wire: Any, row_image: Any) -> None:
    """A message that decodes has exactly one change, or contradicts its own schema."""
    model = cw.decode(dumps(wire), format="dataworks-json")
    codes, found = set[str](), list[cw.Change]()
    try:
        found = cw.changes(model, row_image=row_image)
    except cw.DecodeError as error:
        codes.add(error.code)
    assert codes <= {"contradicts-schema", "invalid-schema", "wrong-value"}
    assert len(found) + len(codes) == 1
    for one in found:
        assert one.attributes["op"] == wire["payload"]["op"]
        assert (one.op == "delete") <= (one.after is None)


def test_keys_by_table() -> None:
    """They come before the primary key of the message, for the table that has them."""
    row = {"id": 1, "name": "a"}
    keys = {"shop.*": ["name"], "shop.orders": ["id"]}
    assert change("INSERT", after=row, key_columns=keys).key == {"name": "a"}
    assert change("INSERT", after=row, key_columns={"crm.*": ["name"]}).key == {"id": 1}
