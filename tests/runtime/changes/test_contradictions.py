"""What messages say against themselves: every such issue, before anything is made of them."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.runtime.changes import dataworks, lindorm
from tests.runtime.codec.formats import golden, name_of, role_of, wire_of

import changewire as cw

ROWS: dict[str, Any] = {"before": {"id": "x", "name": 1}, "after": {"id": 1, "name": 2, "new": 3}}
PLACES = ["before/id", "before/name", "after/name"]
SCHEMA = lindorm.declared(id="int64", name="string")


def from_dataworks() -> Any:
    """Return the model of an update, of which three columns are of other types."""
    return dataworks.message("UPDATE_AFTER", **ROWS)


def from_lindorm() -> Any:
    """Return the model of an update, of which three columns are of other types."""
    return lindorm.message("u", SCHEMA, **ROWS)


SAMPLES = pytest.mark.parametrize(
    ("model", "format", "row"),
    [
        (from_dataworks(), "dataworks-json", "/payload/{}/dataColumn/{}"),
        (from_lindorm(), "lindorm-json", "/payload/{}/{}"),
    ],
    ids=["dataworks", "lindorm"],
)


def found(issues: list[cw.Issue]) -> list[tuple[str, str]]:
    """Return code and pointer of issues."""
    return [(issue.code, issue.pointer) for issue in issues]


@SAMPLES
def test_every_column_of_another_type_is_an_issue(model: Any, format: str, row: str) -> None:
    """Validation names all columns of both rows, whatever the message is given as."""
    data = cw.encode(model)
    expected = [("contradicts-schema", row.format(*place.split("/"))) for place in PLACES]
    for form in (data, data.decode(), model, msgspec.json.decode(data)):
        assert found(cw.validate(form, format=format)) == expected
    assert cw.codec(format).validate(data) == []


@SAMPLES
def test_changes_refuse_with_all_of_them(model: Any, format: str, row: str) -> None:
    """What validation finds is what a dead letter says."""
    with pytest.raises(cw.DecodeError) as refused:
        cw.changes(model)
    assert refused.value.issues == cw.validate(model, format=format)
    assert row.format("before", "id") in str(refused.value)


@SAMPLES
def test_a_producer_can_refuse_them(model: Any, format: str, row: str) -> None:
    """Encoding writes such a message, unless it is asked to refuse it."""
    data = cw.encode(model)
    assert cw.decode(data, format=format) == model
    with pytest.raises(cw.EncodeError, match="2 more issues") as refused:
        cw.encode(model, declared=True)
    assert refused.value.pointer == row.format("before", "id")


def test_a_message_without_contradictions_is_encoded() -> None:
    """The check of a producer changes nothing of a good message."""
    model = dataworks.message("INSERT", after={"id": 1, "name": "a"})
    assert cw.encode(model, declared=True) == cw.encode(model)


def test_unknown_properties_hide_no_contradiction() -> None:
    """A strict check reports both; what does not decode has no meaning to look at."""
    wire = msgspec.json.decode(cw.encode(from_lindorm()))
    codes = [i.code for i in cw.validate({**wire, "new": 1}, format="lindorm-json", strict=True)]
    assert codes == ["unknown-property", *["contradicts-schema"] * 3, "undeclared-column"]
    wire["payload"]["ts_ms"] = "1"
    assert [i.code for i in cw.validate(wire, format="lindorm-json")] == ["wrong-type"]


def test_schemas_that_are_none_are_issues() -> None:
    """The schema itself is looked at, and every cell of an HBase table."""
    broken = lindorm.message("c", {"type": "int63"}, after={"id": 1})
    assert found(cw.validate(broken, format="lindorm-json")) == [("invalid-schema", "/schema/type")]
    cells = lindorm.message("c", after={"ROW": "?", "a": "!", "b": ""})
    assert found(cw.validate(cells, format="lindorm-json")) == [
        ("invalid-base64", "/payload/after/ROW"),
        ("invalid-base64", "/payload/after/a"),
    ]


def test_what_has_no_bytes_declares_nothing() -> None:
    """A parsed message that cannot be sent is left to the codec, whatever it holds."""
    wire = msgspec.json.decode(cw.encode(from_lindorm()))
    for value in ("\ud800", object()):
        assert cw.validate({**wire, "new": value}, format="lindorm-json") == []


def test_elements_of_a_batch_have_their_place() -> None:
    """An issue of an element is below its index; of a message alone it is not."""
    key = '"key": ["n", null, "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", null], "gen": 1, "exp": 0, "lut": 1'
    one = '{"name": "a", "type": "int", "value": 1}'
    twice = f'{{"msg": "write", {key}, "bins": [{one}, {one}]}}'
    once = f'{{"msg": "write", {key}, "bins": [{one}]}}'
    for data, place in ((twice, ""), (f"[{twice}]", "/0"), (f"[{once}, {twice}]", "/1")):
        issues = cw.validate(data, format="aerospike-json")
        assert found(issues) == [("duplicate-column", f"{place}/bins/1/name")]
        assert cw.explain(data).issues == issues


@pytest.mark.parametrize(("name", "path"), golden("valid"), ids=name_of)
def test_golden_messages_contradict_nothing(name: str, path: Path) -> None:
    """Messages of the documents, and those seen, are at one with themselves."""
    if "key" not in role_of(path):
        assert cw.validate(wire_of(path), format=name) == []


def test_a_closed_check_names_undeclared_columns_of_lindorm() -> None:
    """A column that the schema of the message lacks is one; without a schema there is none."""
    with_schema = lindorm.message("u", SCHEMA, before={"id": 1, "x": 1}, after={"id": 1, "nmae": 2})
    assert cw.validate(with_schema, format="lindorm-json") == []
    assert found(cw.validate(with_schema, format="lindorm-json", strict=True)) == [
        ("undeclared-column", "/payload/before/x"),
        ("undeclared-column", "/payload/after/nmae"),
    ]
    without = lindorm.message("c", after={"id": 1, "nmae": 2})
    assert cw.validate(without, format="lindorm-json", strict=True) == []


def test_a_closed_check_reports_each_place_once() -> None:
    """It adds undeclared names to what contradicts the schema, or is no schema."""
    model = from_dataworks()
    expected = [
        ("contradicts-schema", f"/payload/{p.replace('/', '/dataColumn/')}") for p in PLACES
    ]
    expected.append(("undeclared-column", "/payload/after/dataColumn/new"))
    assert found(cw.validate(model, format="dataworks-json", strict=True)) == expected
    broken = lindorm.message("c", {"type": "int63"}, after={"id": 1})
    assert found(cw.validate(broken, format="lindorm-json", strict=True)) == [
        ("invalid-schema", "/schema/type")
    ]
