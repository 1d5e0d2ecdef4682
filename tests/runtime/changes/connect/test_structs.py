"""Structs: fields in the order of the message, absent, undeclared, null and default ones."""

import pickle

import pytest
from tests.runtime.changes.connect.helpers import (
    CONNECT,
    Json,
    compiled,
    field,
    logical,
    read,
    read_with_notes,
    struct,
)

from changewire.changes.connect.reads import Note
from changewire.changes.connect.schema import ValueMismatch

ROW = struct(
    field("id", "int32", optional=False),
    field("name", "string", optional=True),
    field("level", "int8", optional=False, default=3),
)


def test_fields_keep_the_order_of_the_message() -> None:
    """The row has its fields in the order in which the message has them."""
    found = read(ROW, {"level": 1, "name": None, "id": 7})
    assert list(found.items()) == [("level", 1), ("name", None), ("id", 7)]


def test_the_value_stays_as_it_was() -> None:
    """Reading makes a new row and leaves the parsed message alone."""
    value = {"at": 0}
    schema = struct(field("at", "int32", name=CONNECT + "Date"))
    assert read(schema, value) is not value
    assert value == {"at": 0}


def test_absent_optional_fields_stay_absent() -> None:
    """Absent is not null: an optional field that is not there does not appear."""
    assert read_with_notes(ROW, {"id": 7, "level": 1}) == ({"id": 7, "level": 1}, [])


def test_absent_fields_with_a_default_stay_absent() -> None:
    """A default is no value that was sent: the field stays absent, and that is noted."""
    found, notes = read_with_notes(ROW, {"id": 7})
    assert found == {"id": 7}
    assert notes == [("default-for-absent", "/payload/level")]


def test_absent_required_fields_are_refused() -> None:
    """A required field without a default must be there; the refusal names where it belongs."""
    with pytest.raises(ValueMismatch) as caught:
        read(ROW, {"name": "Anne"})
    error = caught.value
    assert (error.pointer, error.schema_pointer) == ("/payload/id", "/fields/0")
    assert error.rule == "missing-property"


def test_partial_values_may_leave_out_fields() -> None:
    """Delta-only and key-only exports leave columns out, at every level; what is there is read."""
    assert read(ROW, {"name": "Anne"}, partial=True) == {"name": "Anne"}
    nested = struct(field("row", "struct", fields=ROW["fields"]), field("n", "int8"))
    assert read(nested, {"row": {}}, partial=True) == {"row": {}}
    with pytest.raises(ValueMismatch):
        read(ROW, {"id": None}, partial=True)


def test_undeclared_fields_are_kept_and_noted() -> None:
    """A field that the schema does not name is kept as JSON has it, whatever that is."""
    value = {"id": 7, "new/~": {"a": [1.0, None]}, "level": 1, "": "x"}
    found, notes = read_with_notes(ROW, value)
    assert list(found.items()) == list(value.items())
    assert notes == [("undeclared-field", "/payload/new~1~0"), ("undeclared-field", "/payload/")]


@pytest.mark.parametrize("name", ["", "__class__", "a\x00b", "\ud800", "{}", "x" * 100_000, "ключ"])
def test_field_names_are_data(name: str) -> None:
    """A field may have any name; nothing of it is interpreted."""
    schema = struct(field(name, "int8"))
    assert read(schema, {name: 1}) == {name: 1}
    with pytest.raises(ValueMismatch) as caught:
        read(schema, {name: "x"})
    assert caught.value.pointer == f"/payload/{name}"
    assert len(str(caught.value)) < 1000
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("optional", [False, True])
def test_null_takes_the_default(optional: bool) -> None:  # noqa: FBT001 - a parameter
    """As in Kafka's converter, null becomes the default even where null is a value; it is noted."""
    schema = struct(field("level", "int8", optional=optional, default=3))
    assert read_with_notes(schema, {"level": None}) == (
        {"level": 3},
        [("default-for-null", "/payload/level")],
    )


def test_null_can_stay_null() -> None:
    """With Kafka's other setting the null of an optional field stays; a required one has none."""
    schema = struct(field("a", "int8", optional=True, default=3), field("b", "int8", default=4))
    reader = compiled(schema, replace_null_with_default=False)
    assert reader.read({"a": None, "b": None}, "") == {"a": None, "b": 4}


@pytest.mark.parametrize(
    ("node", "default", "typed"),
    [
        (logical("bytes", CONNECT + "Decimal", parameters={"scale": "1"}), "AQ==", "0.1"),
        (logical("int32", CONNECT + "Date"), 1, "1970-01-02"),
        ({"type": "array", "items": {"type": "bytes"}}, ["YQ=="], "[b'a']"),
        ({"type": "struct", "fields": [field("a", "int8", default=1)]}, {"a": None}, "{'a': 1}"),
    ],
)
def test_defaults_are_typed(node: Json, default: Json, typed: str) -> None:
    """A default is read by its own schema."""
    assert str(read({**node, "default": default}, None)) == typed


def test_a_null_default_is_none() -> None:
    """Writers that send ``"default": null`` say that there is none."""
    assert read({"type": "int8", "optional": True, "default": None}, None) is None
    with pytest.raises(ValueMismatch):
        read({"type": "int8", "default": None}, None)


def test_fields_can_be_read_alone() -> None:
    """The reader of a field reads a part of a message, with pointers into the whole schema."""
    envelope = struct(
        field("op", "string"),
        field("after", "struct", fields=[field("x", "float32"), field("y", "int8")], optional=True),
    )
    after = compiled(envelope).fields["after"]
    notes: list[Note] = []
    assert after.read(None, "/payload/after") is None
    assert after.read({"x": 1.5}, "/payload/after", partial=True, notes=notes) == {"x": 1.5}
    assert notes == [Note("float-alias", "/fields/1/fields/0")]
    assert after.fields["y"].fields == {}
    assert compiled({"type": "array", "items": envelope}).fields == {}
    with pytest.raises(ValueMismatch) as caught:
        after.read({"x": 1, "y": 300}, "/payload/after")
    assert caught.value.pointer == "/payload/after/y"
    assert caught.value.schema_pointer == "/fields/1/fields/1"


def test_notes_are_for_those_who_ask() -> None:
    """Without a list to collect notes in, values are read alike."""
    assert read(ROW, {"id": 7, "more": 1}) == {"id": 7, "more": 1}


def test_refusals_hold_no_value_in_their_texts() -> None:
    """What a message holds reaches neither the text nor the pickled form of a refusal."""
    with pytest.raises(ValueMismatch) as caught:
        read(ROW, {"id": "secret-7", "level": 1})
    error = caught.value
    assert error.actual == "secret-7"
    for shown in (str(error), repr(error), pickle.dumps(error).decode("latin-1")):
        assert "secret" not in shown
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    assert (copy.pointer, copy.schema_pointer, copy.rule) == (
        "/payload/id",
        "/fields/0",
        error.rule,
    )
    assert str(copy).startswith(
        "at /payload/id: expected an integer from -2147483648 to 2147483647"
    )
