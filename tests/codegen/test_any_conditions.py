"""Any condition over properties of any name means what it means in JSON Schema."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.codegen.made import NAMES, family_with, imported

from changewire_codegen.names import python_name

Node = dict[str, Any]

SOME = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

INNER: Node = {
    "title": "Inner",
    "description": "An object.",
    "type": "object",
    "properties": {"is": {"description": "A number.", "type": "integer"}},
}
TEXTS = st.sampled_from(["", "a", "ab", "is not", "None"])
NUMBERS = st.integers(-3, 3)
FLOATS = NUMBERS.map(lambda number: number + 0.5)
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
INNERS = st.fixed_dictionaries({}, optional={"is": NUMBERS})

KINDS: list[tuple[Node, st.SearchStrategy[Any]]] = [
    ({"type": "string"}, TEXTS),
    ({"type": "integer"}, NUMBERS),
    ({"type": ["integer", "number", "null"]}, NUMBERS | FLOATS | st.none()),
    ({"type": ["boolean", "string", "null"]}, st.booleans() | TEXTS | st.none()),
    ({"type": "array", "items": {"type": "integer"}}, st.lists(NUMBERS, max_size=2)),
    ({"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]}, INNERS | st.none()),
    ({"$ref": "#/$defs/Inner"}, INNERS),
    ({"type": "object", "additionalProperties": {"type": "string"}}, st.just({})),
    ({}, TEXTS | NUMBERS | FLOATS | st.none() | st.booleans() | st.just([]) | st.just({})),
]
CONSTANTS = TEXTS | NUMBERS

about_values = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(TYPES)}),
    st.fixed_dictionaries({"const": CONSTANTS | st.none() | st.booleans()}),
    st.fixed_dictionaries({"enum": st.lists(CONSTANTS, min_size=1, max_size=3, unique=True)}),
    st.fixed_dictionaries({"minimum": NUMBERS | FLOATS}),
    st.fixed_dictionaries({"type": st.just("integer"), "minimum": NUMBERS}),
    st.fixed_dictionaries({"type": st.just("number"), "maximum": NUMBERS}),
    st.fixed_dictionaries({"pattern": st.sampled_from(["^a.*$", "^(is|None)? ?.*$", "^'$"])}),
)


def combined(conditions: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """Draw a condition that is made of others."""
    several = st.lists(conditions, min_size=2, max_size=3)
    return conditions.map(lambda c: {"not": c}) | several.map(lambda cs: {"anyOf": cs})


@st.composite
def samples(draw: st.DrawFn) -> tuple[Node, Node, list[Node]]:
    """Draw a schema without conditions, a condition about its messages, and messages."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique_by=python_name))
    kinds = {name: draw(st.sampled_from(KINDS)) for name in names}
    required = draw(st.lists(st.sampled_from(names), unique=True))
    schema: Node = {
        "title": "Sample",
        "description": "A sample.",
        "type": "object",
        "properties": {name: {"description": "One.", **kinds[name][0]} for name in names},
        "required": required,
        "examples": [{}],
        "$defs": {"Inner": INNER},
    }
    values = {name: kind[1] for name, kind in kinds.items()}
    messages = st.fixed_dictionaries(
        {name: values[name] for name in required},
        optional={name: values[name] for name in names if name not in required},
    )
    about_one = st.recursive(about_values, combined, max_leaves=3)
    about_all = st.one_of(
        st.fixed_dictionaries(
            {},
            optional={"properties": st.dictionaries(st.sampled_from(names), about_one, min_size=1)},
        ),
        st.lists(st.sampled_from(names), unique=True).map(lambda found: {"required": found}),
        st.just({"type": "object"}),
        st.just({"type": "array"}),
    )
    conditions = st.recursive(about_all, combined, max_leaves=4)
    found = draw(st.lists(messages, min_size=1, max_size=6))
    return schema, draw(conditions), found


def holds(condition: Node, message: Node) -> bool:
    """Return what JSON Schema says."""
    return Draft202012Validator(condition).is_valid(message)


@SOME
@given(samples())
def test_a_leniency_is_counted_where_json_schema_selects_the_message(
    drawn: tuple[Node, Node, list[Node]],
) -> None:
    """A condition that is compiled for models selects the messages that JSON Schema selects."""
    schema, condition, messages = drawn
    family = family_with({**schema, "x-leniency": {"selected": condition}})
    with imported(family, "models", "leniencies") as (models, leniencies):
        for message in messages:
            model = msgspec.convert(message, models.Sample)
            expected = ["selected"] if holds(condition, message) else []
            assert leniencies.leniencies(model) == expected


NULLABLE: Node = {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]}
TIME: Node = {"type": "string", "format": "date-time"}
BYTES: Node = {"type": "string", "contentEncoding": "base64"}
OBJECT: Node = {"type": "object"}
TEXT: Node = {"type": "string"}


@pytest.mark.parametrize(
    ("kind", "condition", "value", "selected"),
    [
        (NULLABLE, OBJECT, {}, True),
        (NULLABLE, {"not": OBJECT}, None, True),
        (NULLABLE, {"not": OBJECT}, {}, False),
        (TIME, TEXT, "2024-01-01T00:00:00Z", True),
        (TIME, {"not": TEXT}, "2024-01-01T00:00:00Z", False),
        (BYTES, TEXT, "AAAA", True),
        (BYTES, {"not": TEXT}, "AAAA", False),
    ],
)
def test_a_leniency_of_a_property_is_about_its_value_on_the_wire(
    kind: Node, condition: Node, value: object, *, selected: bool
) -> None:
    """Text that a model holds as bytes or time is still a string, and a model is an object."""
    prop = {"description": "A value.", **kind, "x-leniency": {"selected": condition}}
    schema: Node = {
        "title": "Sample",
        "description": "A sample.",
        "type": "object",
        "properties": {"this is x": prop},
        "examples": [{}],
        "$defs": {"Inner": INNER},
    }
    with imported(family_with(schema), "models", "leniencies") as (models, leniencies):
        model = msgspec.convert({"this is x": value}, models.Sample)
        assert leniencies.leniencies(model) == (["selected"] if selected else [])
        assert leniencies.leniencies(models.Sample()) == []
