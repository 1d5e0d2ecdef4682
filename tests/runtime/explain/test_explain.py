"""``changewire.explain``: a message beside its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from tests.runtime.codec.encodings import dumps, same
from tests.runtime.codec.formats import JSON_FORMATS as FORMATS
from tests.runtime.codec.formats import modest
from tests.samples import FORMAT, examples

import changewire as cw
from changewire_messages.support import pointer_token

WRITE: dict[str, Any] = examples("write")[0]


def explained(message: object, format: str | None = FORMAT, **options: Any) -> cw.Explanation:
    """Return the explanation of a parsed message."""
    return cw.explain(json.dumps(message), format, **options)


def at(found: cw.Explanation, pointer: str) -> cw.Field:
    """Return the field at a pointer."""
    return next(field for field in found.fields if field.pointer == pointer)


@pytest.mark.parametrize("name", FORMATS)
@modest
@given(data=st.data())
def test_all_of_a_valid_message_is_explained(name: str, data: st.DataObject) -> None:
    """Each scalar of a valid message is a field with its value, and no field is missing."""
    message = data.draw(FORMATS[name].strategy("message"))
    found = cw.explain(dumps(message), name, most=None)
    assert all(field.left_out == 0 and field.state != "missing" for field in found.fields)
    shown = {field.pointer: field.value for field in found.fields if field.value is not UNSET}
    scalars = dict(_scalars(message, ""))
    assert shown.keys() == scalars.keys()
    assert all(same(shown[pointer], value) for pointer, value in scalars.items())


def _scalars(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    """Yield (pointer, value) of what a parsed message holds, save arrays and objects."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for step, item in items:
            yield from _scalars(item, f"{at}/{pointer_token(str(step))}")
    else:
        yield at, value


@pytest.mark.parametrize("name", FORMATS)
@modest
@given(data=st.data())
def test_no_issue_is_lost(name: str, data: st.DataObject) -> None:
    """Every issue that `validate` finds stands at one field, at its place or around it."""
    raw = dumps(data.draw(FORMATS[name].strategy("message", broken=True)))
    found = cw.explain(raw, name)
    placed = [(field.pointer, issue) for field in found.fields for issue in field.issues]
    pointers = sorted(issue.pointer for issue in cw.validate(raw, format=name))
    assert sorted(issue.pointer for _, issue in placed) == pointers
    assert all(issue.pointer.startswith(pointer) for pointer, issue in placed)


@given(data=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@modest
def test_any_bytes_are_explained(data: bytes) -> None:
    """Bytes that are no message have issues, and the explanation is still one."""
    found = cw.explain(data)
    assert found.issues
    assert found.format == cw.detect(data)


@given(
    message=st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@modest
def test_any_json_is_explained_as_any_format(message: object) -> None:
    """A message of another shape than its format's has issues, each at a field."""
    for name in FORMATS:
        found = cw.explain(json.dumps(message), name)
        assert found.issues or message == []
        assert sum(len(field.issues) for field in found.fields) == len(found.issues)


def test_format_and_variant_are_told() -> None:
    """Without a format it is detected; the variant is that of the message, not of its bins."""
    found = explained(WRITE, None)
    assert (found.format, found.variant, found.issues) == (FORMAT, "Write", [])
    assert explained([WRITE, WRITE], None).variant == "Batch"
    insert = {"payload": {"op": "c", "ts_ms": 1, "after": {}, "source": _SOURCE}}
    assert explained(insert, None).variant == "Insert"


_SOURCE = {"namespace": "n", "table": "t", "ts_ms": 1465491411807}


def test_an_unknown_format_is_refused() -> None:
    """A format that does not exist is a ValueError that names those that do."""
    with pytest.raises(ValueError, match="no format 'xml'"):
        cw.explain(b"{}", "xml")


def test_meanings_are_the_descriptions_of_the_schema() -> None:
    """Properties, positions of an array and arms of a union have the text of their schema."""
    found = explained({**WRITE, "bins": [{"name": "b", "type": "str", "value": "x"}]})
    assert at(found, "/gen").meaning.startswith("Generation of the record")
    assert at(found, "/key/0").name == "namespace"
    assert at(found, "/key/0").meaning == "Namespace of the record."
    assert (at(found, "/bins/0").kind, at(found, "/bins/0").meaning) == ("StrBin", "A string.")


@pytest.mark.parametrize(
    ("name", "value", "reading"),
    [
        ("lut", 1617167159548, "2021-03-31T05:05:59.548Z"),
        ("exp", 1682797792, "2023-04-29T19:49:52Z"),
        ("exp", 0, "0 means never"),
        ("exp", -1, "-1 means never"),
        ("lut", 0, "0 means not shipped"),
        ("lut", 10**18, ""),
        ("lut", None, ""),
        ("gen", 1617167159, ""),
    ],
)
def test_times_are_read_by_the_unit_that_the_schema_states(
    name: str, value: object, reading: str
) -> None:
    """Seconds and milliseconds become dates; numbers that mean something else say what."""
    assert at(explained({**WRITE, name: value}), f"/{name}").reading == reading


def test_times_that_are_not_known_are_no_dates() -> None:
    """A number that the schema names as unknown is read as that, and not as a time."""
    found = explained(_row({"id": 1}, [("id", "LONG")]), "dataworks-json")
    assert at(found, "/payload/timestamp/eventTime").reading == "2021-05-08T07:11:36.000Z"
    assert at(found, "/payload/timestamp/systemTime").reading == "-1 means not known"


def _row(columns: dict[str, Any], types: list[tuple[str, str]]) -> dict[str, Any]:
    return {
        "schema": {"dataColumn": [{"name": name, "type": kind} for name, kind in types]},
        "payload": {
            "op": "INSERT",
            "after": {"dataColumn": columns},
            "timestamp": {"eventTime": 1620457896000, "systemTime": -1},
        },
        "version": "0.0.1",
    }


def test_declared_types_stand_beside_the_values() -> None:
    """Columns have the type that the message declares for them, and are read by it."""
    columns = {"d": 1731592800000, "b": "AAEC", "n": None, "/": "1.10", "new": 1}
    types = [("d", "DATE"), ("b", "BYTES"), ("n", "LONG"), ("/", "DOUBLE")]
    found = explained(_row(columns, types), "dataworks-json")
    row = "/payload/after/dataColumn"
    told = {f.name: (f.declared, f.reading) for f in found.fields if f.pointer.startswith(row)}
    assert told["d"] == ("DATE", "2024-11-14T14:00:00Z")
    assert told["b"] == ("BYTES", "3 bytes: 0x000102")
    assert told["n"] == ("LONG", "")
    assert told["/"] == ("DOUBLE", "1.10")
    assert told["new"] == ("", "")
    assert found.leniencies[-2:] == ["numeric-text", "undeclared-column"]


def test_types_of_kafka_connect_are_read() -> None:
    """A Kafka Connect schema in the message types the columns, logical types included."""
    date = {"type": "int32", "name": "org.apache.kafka.connect.data.Date", "field": "day"}
    fields = [{"type": "struct", "field": "after", "optional": True, "fields": [date]}]
    payload = {"op": "c", "ts_ms": 1, "after": {"day": 18628}, "source": _SOURCE}
    found = explained({"schema": {"type": "struct", "fields": fields}, "payload": payload}, None)
    day = at(found, "/payload/after/day")
    assert (day.reading, day.declared) == ("2021-01-01", "org.apache.kafka.connect.data.Date")


def test_cells_of_hbase_tables_are_bytes() -> None:
    """Where a row has a row key, its values are read as Base64."""
    payload = {"op": "c", "ts_ms": 1, "after": {"ROW": "dXNlcjE=", "x": None}, "source": _SOURCE}
    found = explained({"payload": payload}, None)
    cell = at(found, "/payload/after/ROW")
    assert (cell.reading, cell.declared) == ('5 bytes: "user1"', "bytes")


def test_a_value_that_contradicts_its_declared_type_is_an_issue() -> None:
    """What only the declared types tell is an issue at the value."""
    found = explained(_row({"d": "x"}, [("d", "DATE")]), "dataworks-json")
    assert [issue.code for issue in found.issues] == ["contradicts-schema"]
    assert at(found, "/payload/after/dataColumn/d").issues == found.issues


def test_unknown_and_missing_properties_are_marked() -> None:
    """A property without a name in the schema is unknown; a required one is missing."""
    message = {**WRITE, "newer": {"a": [1]}}
    del message["bins"]
    found = explained(message)
    states = {field.pointer: field.state for field in found.fields}
    assert (states["/newer"], states["/newer/a/0"]) == ("unknown", "known")
    assert states["/bins"] == "missing"
    assert [issue.code for issue in at(found, "/bins").issues] == ["missing-property"]
    assert at(found, "/bins").meaning.startswith("Bins of the record")


def test_bytes_are_text_where_that_prints() -> None:
    """Base64 is read as text, or else as hexadecimal; what is no Base64 has no reading."""
    values = ["aGk=", "GzE=", "/w==", "", "?"]
    bins = [{"name": str(i), "type": "blob", "value": v} for i, v in enumerate(values)]
    found = explained({**WRITE, "bins": bins})
    readings = [at(found, f"/bins/{i}/value").reading for i in range(len(values))]
    assert readings == ['2 bytes: "hi"', "2 bytes: 0x1b31", "1 byte: 0xff", "0 bytes", ""]


def test_long_arrays_are_cut_and_their_issues_are_kept() -> None:
    """Of long arrays the first elements are shown; issues of others stand at the array."""
    bins: list[Any] = [{"name": str(i), "type": "int", "value": i} for i in range(100)]
    bins[99]["value"] = "x"
    found = explained({**WRITE, "bins": bins}, most=3)
    assert at(found, "/bins").left_out == 97
    assert [issue.pointer for issue in at(found, "/bins").issues] == ["/bins/99/value"]
    assert at(explained({**WRITE, "bins": bins}, most=None), "/bins/99/value").issues


def test_what_is_shown_is_bounded() -> None:
    """However many fields a message has, and however deep, only so many are explained."""
    wide: Any = 1
    for _ in range(4):
        wide = [wide] * 10
    deep = "[" * 400 + "]" * 400
    bins = [{"name": "b", "type": "list", "value": wide}]
    assert len(explained({**WRITE, "bins": bins}).fields) <= 1000
    text = json.dumps({**WRITE, "new": 0}).replace('"new": 0', f'"new": {deep}')
    assert len(cw.explain(text, FORMAT, most=None).fields) > 400


def test_bytes_that_end_early_are_shown_around_the_end() -> None:
    """Where the parser stopped, the offset and the bytes on both sides are told."""
    found = cw.explain(b'{"msg":"write", }' + b" " * 100)
    assert (found.format, found.fields, found.issues[0].code) == (None, [], "invalid-json")
    assert found.stop is not None
    assert (found.stop.byte_offset, found.stop.before) == (16, b'{"msg":"write", ')
    assert found.stop.after == b"}" + b" " * 39


@pytest.mark.parametrize("data", [memoryview(b"[1"), bytearray(b"[1"), "[1", b"\x93\x01"])
def test_every_kind_of_data_is_taken(data: Any) -> None:
    """Bytes, their views, and text can all be explained."""
    assert cw.explain(data).issues
