"""What messages lack of what their document shows is counted by name, and stays absent."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

import changewire as cw

AEROSPIKE: dict[str, Any] = {
    "msg": "write",
    "key": ["ns", "set", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", None],
    "gen": 4,
    "exp": 0,
    "lut": 1617167159548,
    "bins": [],
}
DELETE: dict[str, Any] = {
    "msg": "delete",
    "key": ["ns", None, "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", None],
    "durable": True,
    "gen": 4,
    "lut": 1617167159548,
}
IMAGE = {"dataColumn": {"a": 1}}
ROWS = {
    "INSERT": (None, IMAGE),
    "UPDATE_BEFOR": (IMAGE, None),
    "UPDATE_AFTER": (IMAGE, IMAGE),
    "DELETE": (IMAGE, None),
}
MARKS = ("MHEARTBEAT", "TRUNCATE", "QUERY", "TRANSACTION_BEGIN", "GTID", "XACOMMIT")
CHANGES_OF_SCHEMAS = ("CREATE", "ALTER", "ERASE", "RENAME", "CINDEX", "DINDEX")


def dataworks(op: str) -> dict[str, Any]:
    """Return a message with all that the document shows of it."""
    before, after = ROWS.get(op, (None, None))
    return {
        "schema": {
            "dataColumn": [{"name": "a", "type": "LONG"}],
            "primaryKey": None,
            "source": {"dbType": "MySQL", "dbName": "shop", "tableName": "users"},
        },
        "payload": {
            "before": before,
            "after": after,
            "sequenceId": "7",
            "timestamp": {"eventTime": 5},
            "op": op,
            "ddl": {"text": "x", "ddlMeta": "AAE="} if op in CHANGES_OF_SCHEMAS else None,
        },
        "version": "0.0.1",
    }


def lindorm(op: str) -> dict[str, Any]:
    """Return a message with all that the document shows of it."""
    source = {"version": "v1.0", "db": "ld-1", "namespace": "n", "table": "t", "ts_ms": 5}
    row = {"a": 1}
    before, after = row if op in "ud" else None, None if op == "d" else row
    payload = {"op": op, "ts_ms": 6, "before": before, "after": after, "source": source}
    return {"schema": {}, "payload": payload}


def altered(message: dict[str, Any], pointer: str, value: Any = ...) -> dict[str, Any]:
    """Return a message with another value at a place, or without the property."""
    found = deepcopy(message)
    *above, name = pointer.split("/")[1:]
    holder: Any = found
    for step in above:
        holder = holder[int(step) if isinstance(holder, list) else step]
    if value is ...:
        del holder[name]
    else:
        holder[int(name) if isinstance(holder, list) else name] = value
    return found


def cases() -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """Yield (format, message, leniencies that it needs)."""
    for name in ("gen", "exp", "lut"):
        yield "aerospike-json", altered(AEROSPIKE, f"/{name}"), [f"missing-{name}"]
        yield "aerospike-json", altered(AEROSPIKE, f"/{name}", None), []
    yield "aerospike-json", altered(AEROSPIKE, "/key/3", 1.5), ["float-user-key"]
    yield "aerospike-json", altered(AEROSPIKE, "/key/3", 1), []
    yield "aerospike-json", altered(DELETE, "/durable"), ["missing-durable"]
    for message in (AEROSPIKE, DELETE):
        for time in (1, 1617167159, 99999999999):
            yield "aerospike-json", altered(message, "/lut", time), ["last-update-in-seconds"]
        for time in (0, 10**11):
            yield "aerospike-json", altered(message, "/lut", time), []
    yield from _cases_of_dataworks()
    yield from _cases_of_lindorm()


def _cases_of_dataworks() -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    yield from _cases_of_rows("dataworks-json")
    yield from _cases_of_marks("dataworks-json")
    yield from _cases_of_schemas("dataworks-json")


def _cases_of_rows(form: str) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    for op, (before, after) in ROWS.items():
        message = dataworks(op)
        if before is None or op == "UPDATE_AFTER":
            yield form, altered(message, "/payload/before"), ["missing-before"]
            yield form, altered(message, "/payload/before", None), []
        if after is None:
            yield form, altered(message, "/payload/after"), ["missing-after"]
        for value in (..., None):
            sequence = altered(message, "/payload/sequenceId", value)
            yield form, sequence, ["missing-sequence-id"]
        yield form, altered(message, "/payload/ddl"), ["missing-ddl"]


def _cases_of_marks(form: str) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    for op in (*MARKS, *CHANGES_OF_SCHEMAS):
        for name in ("before", "after", "ddl"):
            yield form, altered(dataworks(op), f"/payload/{name}"), [f"missing-{name}"]
        sequence = altered(dataworks(op), "/payload/sequenceId")
        yield form, sequence, ["missing-sequence-id"]
        yield form, altered(dataworks(op), "/payload/sequenceId", None), []
    for op in CHANGES_OF_SCHEMAS:
        yield form, altered(dataworks(op), "/payload/ddl", None), ["missing-ddl"]


def _cases_of_schemas(form: str) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    message = dataworks("INSERT")
    yield form, altered(message, "/schema/dataColumn"), ["missing-data-column"]
    yield form, altered(message, "/schema/primaryKey"), ["missing-primary-key"]
    yield form, altered(message, "/schema/source"), ["missing-source"]
    yield form, altered(message, "/schema/source", None), ["missing-source"]
    for name, leniency in (
        ("dbType", "missing-db-type"),
        ("dbName", "missing-db-name"),
        ("tableName", "missing-table-name"),
    ):
        for value in (..., None):
            yield form, altered(message, f"/schema/source/{name}", value), [leniency]
    for place in ("source/dbName", "source/schemaName", "source/tableName", "dataColumn/0/name"):
        yield form, altered(message, f"/schema/{place}", ""), ["empty-name"]
    heartbeat = dataworks("MHEARTBEAT")
    heartbeat["schema"] = {"dataColumn": None, "primaryKey": None, "source": None}
    yield form, heartbeat, []


def _cases_of_lindorm() -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    form = "lindorm-json"
    for op in "cudr":
        message = lindorm(op)
        yield form, altered(message, "/payload/before"), ["missing-before"]
        by_null = [] if op in "cr" else ["missing-before"]
        yield form, altered(message, "/payload/before", None), by_null
        for value in (..., None):
            yield form, altered(message, "/schema", value), ["missing-schema"]
            for name in ("version", "db"):
                found = altered(message, f"/payload/source/{name}", value)
                yield form, found, [f"missing-{name}"]
        for name in ("db", "namespace", "table"):
            yield form, altered(message, f"/payload/source/{name}", ""), ["empty-name"]
        yield form, altered(message, "/payload/source/version", "v2.0"), []
        yield form, altered(message, "/payload/source/version", "2.7.1"), ["unknown-version"]
        for name in ("my instance", "ld-", "old-1"):
            yield form, altered(message, "/payload/source/db", name), ["unknown-db"]
        for time in (-62135596800001, 253402300800000, 1465491411807000, -(2**63), 2**63 - 1):
            found = altered(message, "/payload/source/ts_ms", time)
            yield form, found, ["time-out-of-range"]
        for time in (-62135596800000, 253402300799999):
            yield form, altered(message, "/payload/source/ts_ms", time), []
    yield form, altered(lindorm("d"), "/payload/after"), ["missing-after"]


@pytest.mark.parametrize(("form", "message", "expected"), list(cases()))
def test_what_is_lacking_is_counted_and_stays_so(
    form: str, message: dict[str, Any], expected: list[str]
) -> None:
    """A message that lacks something is read, counted by name, and written without it again."""
    model = cw.decode(json.dumps(message), format=form)
    assert cw.leniencies(model) == expected
    assert json.loads(cw.encode(model)) == message
    assert cw.codec(form).validate(message) == []


COMPLETE = [
    ("aerospike-json", AEROSPIKE),
    ("aerospike-json", DELETE),
    *(("dataworks-json", dataworks(op)) for op in (*ROWS, *MARKS, *CHANGES_OF_SCHEMAS)),
    *(("lindorm-json", lindorm(op)) for op in "cudr"),
]


@pytest.mark.parametrize(("form", "message"), COMPLETE)
def test_what_the_document_shows_needs_no_leniency(form: str, message: dict[str, Any]) -> None:
    """A message with all that its document shows is counted under no name."""
    assert cw.leniencies(cw.decode(json.dumps(message), format=form)) == []


def test_a_write_without_metadata_means_what_null_means() -> None:
    """A write that lacks generation, expiry and update time is the change of one with null."""
    absent = {name: AEROSPIKE[name] for name in ("msg", "key", "bins")}
    null = {**absent, "gen": None, "exp": None, "lut": None}
    (lacking,), (empty,) = (
        cw.changes(cw.decode(json.dumps(message), format="aerospike-json"))
        for message in (absent, null)
    )
    assert (lacking.event_time, lacking.sequence) == (empty.event_time, empty.sequence)
    assert (lacking.key, lacking.after, lacking.op) == (empty.key, empty.after, empty.op)
    assert lacking.attributes.keys() & {"gen", "exp", "lut"} == set()


def test_names_of_a_schema_that_was_met_before_are_counted_again() -> None:
    """Each message is counted, though its schema is looked at once."""
    message = altered(dataworks("INSERT"), "/schema/source/dbType")
    models = [cw.decode(json.dumps(message), format="dataworks-json") for _ in range(3)]
    assert [cw.leniencies(model) for model in models] == [["missing-db-type"]] * 3


def test_a_float_as_user_key_is_counted_in_messagepack() -> None:
    """MessagePack counts it under the same name, in messages and in keys."""
    key = cw.aerospike_msgpack.Key("ns", None, b"abcdefghijklmnopqrst", 1.5)
    row = cw.aerospike_msgpack.DeletePayload(key, 0, 1, 0, None)
    assert cw.leniencies(cw.aerospike_msgpack.Delete(payload=row)) == [
        "keys-on-delete",
        "float-user-key",
    ]
    assert cw.codec("aerospike-msgpack").leniencies(key) == ["float-user-key"]


@pytest.mark.parametrize(
    ("lut", "expected"),
    [(1, 1), (1617167159, 1), (99999999999, 1), (0, 0), (10**11, 0)],
)
def test_a_last_update_in_seconds_is_counted_in_messagepack(lut: int, expected: int) -> None:
    """MessagePack counts it under the same name, in writes and deletes, and keeps the number."""
    key = cw.aerospike_msgpack.Key("ns", None, b"abcdefghijklmnopqrst", None)
    write = cw.aerospike_msgpack.WritePayload(key, 1, 0, lut, [])
    delete = cw.aerospike_msgpack.DeletePayload(key, 0, 1, 0, lut)
    for model in (
        cw.aerospike_msgpack.Write(payload=write),
        cw.aerospike_msgpack.Delete(payload=delete),
    ):
        assert cw.leniencies(model) == ["last-update-in-seconds"] * expected
        (change,) = cw.changes(model)
        assert change.attributes["lut"] == lut
