"""Generated code of the golden cases, imported and used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.pandas.types import to_arrow_type
from tests.codegen.helpers import (
    CASES,
    PACKAGE,
    VARIANTS,
    copied,
    decode,
    encode,
    encoding,
    errors,
    examples,
    is_valid,
    module,
)

from changewire_messages.bundles import schemas_of

pytestmark = pytest.mark.usefixtures("generated")

REFUSED = (msgspec.MsgspecError, LookupError, TypeError, AttributeError)
QUICK = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def strategy(family: str, variant: str, *, broken: bool = False) -> st.SearchStrategy[Any]:
    """Return the strategy of a variant, by the name that ``__all__`` promises."""
    strategies = module(family, "strategies")
    plain = [name for name in strategies.__all__ if not name.startswith("broken_")]
    name = next(name for name in plain if name.replace("_", "") == variant.lower())
    name = f"broken_{name.rstrip('_')}" if broken else name
    assert name in strategies.__all__
    drawn: st.SearchStrategy[Any] = getattr(strategies, name)()
    return drawn


def canonical(rendered: Mapping[str, str], family: str, variant: str) -> Any:
    """Return the canonical schema of a variant."""
    return schemas_of(json.loads(rendered[f"schemas/{family}.json"]))[variant]


@pytest.mark.parametrize(("family", "variant"), VARIANTS)
def test_drawn_messages_are_valid(family: str, variant: str, rendered: Mapping[str, str]) -> None:
    """What a strategy draws passes validator, model and schema, and comes back as it was."""
    schema = canonical(rendered, family, variant)

    @QUICK
    @given(strategy(family, variant))
    def holds(obj: Any) -> None:
        assert errors(family, variant, obj, strict=True) == []
        assert is_valid(family, schema, obj)
        model = decode(family, variant, obj)
        again = encode(family, variant, model)
        assert errors(family, variant, again, strict=True) == []
        assert decode(family, variant, again) == model

    holds()


@pytest.mark.parametrize(("family", "variant"), VARIANTS)
def test_spoilt_messages_are_refused(
    family: str, variant: str, rendered: Mapping[str, str]
) -> None:
    """What a strategy spoils at one place, both the validator and the model refuse."""
    drawn = strategy(family, variant, broken=True)
    schema = canonical(rendered, family, variant)

    @QUICK
    @given(drawn)
    def holds(obj: object) -> None:
        found = errors(family, variant, obj)
        assert found
        assert encoding(family) is msgspec.json or not is_valid(family, schema, obj)
        assert all(len(issue) == 4 for issue in found)
        with pytest.raises(REFUSED):
            decode(family, variant, obj)

    holds()


@pytest.mark.parametrize(("family", "variant"), VARIANTS)
def test_examples_are_read_by_generated_code(
    family: str, variant: str, rendered: Mapping[str, str]
) -> None:
    """The examples of a schema are valid by it, and by the code that it becomes."""
    schema = canonical(rendered, family, variant)
    for example in examples(family, schema):
        assert is_valid(family, schema, example)
        assert errors(family, variant, example, strict=True) == []
        assert decode(family, variant, example) is not None


@pytest.mark.parametrize(("family", "variant"), VARIANTS)
def test_columns_have_the_type_that_spark_is_told(family: str, variant: str) -> None:
    """The Arrow columns of examples have the names and types that the StructType says."""
    arrow, spark = module(family, "arrow"), module(family, "spark")
    name = next((n for n in spark.__all__ if n.replace("_", "") == variant.upper()), None)
    if name is None:
        assert not hasattr(arrow, f"{variant.lower()}_array")
        return
    build = getattr(arrow, f"{name.lower()}_array")
    files = CASES.joinpath(family).glob("*.json")
    schemas = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    (schema,) = [s for s in schemas if s["title"] == variant and "examples" in s]
    models = [decode(family, variant, example) for example in examples(family, schema)]
    array = build(models)
    assert len(array) == len(models)
    expected = to_arrow_type(getattr(spark, name), timestamp_utc=True)
    assert shape(array.type) == shape(expected)


def shape(kind: Any) -> object:
    """Return an Arrow type without what Spark's own conversion adds: names of items, not null."""
    if pa.types.is_struct(kind):
        return [(field.name, shape(field.type)) for field in kind]
    if pa.types.is_list(kind):
        return [shape(kind.value_type)]
    if pa.types.is_map(kind):
        return {str(kind.key_type): shape(kind.item_type)}
    return str(kind)


def test_unknown_properties_come_back_where_they_were() -> None:
    """A property that no schema names is kept at any depth, and reported only by a strict check."""
    obj = {"inner": {"a": 1, "new": [1]}, "list": [{"a": 2}, {"a": 3, "x/y": None}], "more": 0}
    assert errors("open_objects", "Outer", obj) == []
    pointers = ["/inner/new", "/list/1/x~1y", "/more"]
    assert sorted(i[0] for i in errors("open_objects", "Outer", obj, strict=True)) == pointers
    model = decode("open_objects", "Outer", obj)
    assert dict(model.extra) == {"/inner/new": [1], "/list/1/x~1y": None, "/more": 0}
    assert encode("open_objects", "Outer", model) == obj


def test_more_positions_come_back_where_they_were() -> None:
    """A position without a name is kept at any depth, and reported only by a strict check."""
    obj = [1, False, ["a", 7, "more"], None, [2]]
    assert errors("open_rows", "Message", obj) == []
    pointers = ["/2/2", "/3", "/4"]
    assert sorted(i[0] for i in errors("open_rows", "Message", obj, strict=True)) == pointers
    model = decode("open_rows", "Message", obj)
    assert dict(model.extra) == {"/3": None, "/4": [2], "/2/2": "more"}
    assert module("open_rows", "leniencies").leniencies(model) == ["unknown-property"]
    assert encode("open_rows", "Message", model) == obj
    assert decode("open_rows", "Message", [1, True, ["a"]]).extra is msgspec.UNSET


def test_entries_of_a_map_may_stand_in_the_message() -> None:
    """Each property at the root is an entry, but for the one that has what the union asks for."""
    event = {"op": "made", "id": "a", "size": 1}
    obj = {"event": {**event, "new": [1]}, "counts": 3, "": 0}
    model = decode("flat", "Message", obj)
    assert (model.counts, model.named) == ({"counts": 3, "": 0}, msgspec.UNSET)
    assert dict(model.extra) == {"/event/new": [1]}
    assert encode("flat", "Message", model) == obj
    found = errors("flat", "Message", {"event": event, "a/b": "3"})
    assert [i[:2] for i in found] == [("/a~1b", "type")]
    assert [i[:2] for i in errors("flat", "Message", {"counts": 3})] == [("/event", "required")]
    strict = errors("flat", "Message", obj, strict=True)
    assert [i[0] for i in strict] == ["/event/new"]


def test_the_property_beside_flat_entries_may_have_any_name() -> None:
    """The model keeps the name, pointers have it, and an entry may have that of the schema."""
    event = {"op": "gone", "id": "a", "age": 2, "new": None}
    obj = {"event": 1, "m/n": event, "named": 5}
    model = decode("flat", "Message", obj)
    assert (model.named, model.event.age) == ("m/n", 2)
    assert (model.counts, dict(model.extra)) == ({"event": 1, "named": 5}, {"/m~1n/new": None})
    assert encode("flat", "Message", model) == obj
    broken = {**obj, "m/n": {**event, "age": "2"}}
    assert [i[:2] for i in errors("flat", "Message", broken)] == [("/m~1n/age", "type")]
    clash = msgspec.structs.replace(model, counts={"m/n": 1})
    with pytest.raises(ValueError, match="m/n"):
        encode("flat", "Message", clash)


def test_a_message_may_be_the_value_of_a_property_alone() -> None:
    """Its model is that of the whole message, and it comes back without the object around it."""
    obj = {"op": "made", "size": 1, "new": [1]}
    whole = {"event": {"op": "made", "size": 1}}
    model, other = (decode("alone", "Message", one) for one in (obj, whole))
    assert (model.alone, other.alone) == ("event", msgspec.UNSET)
    assert (model.event, dict(model.extra)) == (other.event, {"/new": [1]})
    used = module("alone", "leniencies").leniencies
    assert (used(model), used(other)) == (["missing-envelope", "unknown-property"], [])
    assert encode("alone", "Message", model) == obj
    assert encode("alone", "Message", other) == whole
    assert [i[:2] for i in errors("alone", "Message", {"op": "gone"})] == [("/age", "required")]
    assert [i[:2] for i in errors("alone", "Message", {**obj, "note": None})] == [
        ("/event", "required")
    ]


def test_unknown_tag_goes_to_the_open_arm_and_back() -> None:
    """An object of a kind yet unknown is the open arm's, and is written as it was."""
    obj = {"fields": [{"type": "text", "value": "a"}, {"type": "new", "value": {"b": 1}}]}
    model = decode("open_arm", "Packet", obj)
    assert [type(field).__name__ for field in model.fields] == ["TextField", "OtherField"]
    assert model.fields[1].type == "new"
    assert encode("open_arm", "Packet", model) == obj


def test_enum_tag_gives_one_model_for_each_value() -> None:
    """Which of several tags an object has is known from its class."""
    models = module("enum_tag", "models")
    assert decode("enum_tag", "Event", {"op": "insert", "row": "a"}) == models.ChangeInsert(row="a")
    model = decode("enum_tag", "Event", {"op": "hard-delete", "row": "a"})
    assert model == models.ChangeHardDelete(row="a")
    assert model.op == "hard-delete"


@pytest.mark.parametrize(
    ("obj", "used"),
    [
        ({"value": 1.5}, []),
        ({"value": "1.5"}, ["quoted-value"]),
        ({"value": 1, "time": -1}, ["negative-time"]),
        ({"value": 1, "parts": [{}, {"name": "a"}, {}]}, ["part-without-name"] * 2),
        ({"value": "1", "new": 0}, ["unknown-property", "quoted-value"]),
        ({"value": 1, "point": [0, 12.5]}, ["far-away"]),
        ({"value": 1, "point": [12.5, 0]}, []),
        ({"value": 1, "zone": "z-away"}, ["far-away"]),
    ],
)
def test_leniencies_are_counted_by_use(obj: object, used: list[str]) -> None:
    """A message tells which leniencies it needed, as often as it needed them."""
    found = module("leniencies", "leniencies").leniencies(decode("leniencies", "Sample", obj))
    assert found == used


def test_names_that_python_does_not_take_are_reached_by_others() -> None:
    """A property has its wire name in messages and columns, and a Python name in models."""
    (example,) = json.loads((CASES / "names/class.json").read_text(encoding="utf-8"))["examples"]
    model = decode("names", "Class", example)
    assert (model.class_, model.a_b, model.row_id, model.int_, model.list_) == (
        "x",
        1,
        "y",
        5,
        ["z"],
    )
    assert model.用户 == "w"
    assert encode("names", "Class", model) == example
    assert module("names", "models").Class.__doc__ == (
        'A description with """ and a \\ and \\n, and one at its end: "'
    )
    (column,) = [f for f in module("names", "arrow").class_array([model]).type if f.name == "a b"]
    assert str(column.type) == "int64"


def test_issues_within_nested_lists_name_the_place() -> None:
    """The pointer of an issue counts each list that it passes through."""
    obj = {
        "items": [{"name": "a"}],
        "grid": [[1], [2, "x"]],
        "shelves": {"a/b": [{"name": "c"}, {"name": 3}]},
    }
    found = errors("lists_and_maps", "Basket", obj)
    assert [issue[0] for issue in found] == ["/grid/1/1", "/shelves/a~1b/1/name"]


def test_what_is_missing_is_named_with_its_type() -> None:
    """An issue about a missing reference says what to put there, and whose it is."""
    (issue,) = errors("references", "Parcel", {"receiver": {"city": "Oslo"}, "weight": 1})
    assert issue == ("/sender", "required", "object (Party)", msgspec.UNSET)
    found = errors("optional_and_nullable", "Person", {"name": "a"})
    assert [issue[2] for issue in found] == ["string or null", "object (Place) or null"]


def test_validating_changes_no_message() -> None:
    """Who validates a message has it unchanged afterwards."""
    obj = {"inner": {"a": 1, "b": 2}, "list": [{}], "more": 0}
    before = copied(obj)
    assert [issue[0] for issue in errors("open_objects", "Outer", obj)] == ["/list/0/a"]
    assert obj == before


def test_everything_promised_is_there(rendered: Mapping[str, str]) -> None:
    """Each name in ``__all__`` of a generated module can be imported from it."""
    for path in rendered:
        if path.endswith(".py"):
            name = f"{PACKAGE}.{path.removesuffix('.py').replace('/', '.')}"
            imported = __import__(name.removesuffix(".__init__"), fromlist=["__all__"])
            assert [n for n in getattr(imported, "__all__", []) if not hasattr(imported, n)] == []
