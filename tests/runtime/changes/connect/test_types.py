"""Values of the types of Kafka Connect: what they become, and what is refused."""

import math
import sys
from decimal import Decimal
from typing import Any

import pytest
from tests.runtime.changes.connect.helpers import Json, compiled, read, read_with_notes

from changewire.changes.connect.schema import ValueMismatch
from changewire.codec import CODES

INT64 = 2**63 - 1
FLOAT_MAX = 3.4028235e38  # as Java writes Float.MAX_VALUE: a little above it
FLOAT_END = 2.0**128 - 2.0**103  # the first double that becomes infinite in 32 bits
STRINGS = {"type": "map", "keys": {"type": "string"}, "values": {"type": "int8"}}
PAIRS = {"type": "map", "keys": {"type": "int32"}, "values": {"type": "string"}}

VALUES: list[tuple[Json, Json, Any]] = [
    ("boolean", True, True),
    ("boolean", False, False),
    ("int8", -128, -128),
    ("int8", 127, 127),
    ("int16", -(2**15), -(2**15)),
    ("int16", 2**15 - 1, 2**15 - 1),
    ("int32", -(2**31), -(2**31)),
    ("int32", 2**31 - 1, 2**31 - 1),
    ("int64", -(2**63), -(2**63)),
    ("int64", INT64, INT64),
    ("float", 1.1, 1.1),
    ("float", FLOAT_MAX, FLOAT_MAX),
    ("float", math.nextafter(FLOAT_END, 0), math.nextafter(FLOAT_END, 0)),
    ("float", "NaN", "NaN"),
    ("double", 5, 5.0),
    ("double", 0.1, 0.1),
    ("double", -0.0, -0.0),
    ("double", Decimal("0.1"), 0.1),
    ("double", Decimal("-0.0"), -0.0),
    ("double", 2**60, 2.0**60),
    ("double", "NaN", "NaN"),
    ("double", "Infinity", "Infinity"),
    ("double", "-Infinity", "-Infinity"),
    ("string", "", ""),
    ("string", "é\x00\U0001f600", "é\x00\U0001f600"),
    ("bytes", "", b""),
    ("bytes", "AAH/", b"\x00\x01\xff"),
    ({"type": "array", "items": {"type": "int8"}}, [], []),
    ({"type": "array", "items": {"type": "int8", "optional": True}}, [1, None], [1, None]),
    (STRINGS, {}, {}),
    (STRINGS, {"b": 1, "a/~": 2, "": 3}, {"b": 1, "a/~": 2, "": 3}),
    (PAIRS, [], []),
    (PAIRS, [[1, "a"], [1, "b"]], [(1, "a"), (1, "b")]),
    (
        {"type": "map", "keys": {"type": "double"}, "values": {"type": "boolean"}},
        [[1, True], [1.0, False]],
        [(1.0, True), (1.0, False)],
    ),
]
"""A type's name or a schema, a JSON value, and what it becomes."""

REFUSED: list[tuple[Json, Json, str]] = [
    ("boolean", 1, "wrong-type"),
    ("boolean", "true", "wrong-type"),
    ("boolean", None, "wrong-type"),
    ("int8", 128, "out-of-range"),
    ("int8", -129, "out-of-range"),
    ("int8", 1580465954805, "out-of-range"),
    ("int16", 2**15, "out-of-range"),
    ("int32", -(2**31) - 1, "out-of-range"),
    ("int64", 2**63, "out-of-range"),
    ("int32", 1.0, "wrong-type"),
    ("int32", Decimal(1), "wrong-type"),
    ("int32", True, "wrong-type"),
    ("int32", "1", "wrong-type"),
    ("float", FLOAT_END, "out-of-range"),
    ("float", -FLOAT_END, "out-of-range"),
    ("float", 10**39, "out-of-range"),
    ("double", float("nan"), "out-of-range"),
    ("double", float("inf"), "out-of-range"),
    ("double", 10**400, "out-of-range"),
    ("double", Decimal("1e400"), "out-of-range"),
    ("double", Decimal("NaN"), "out-of-range"),
    ("double", Decimal("sNaN"), "out-of-range"),
    ("double", "1.5", "wrong-type"),
    ("double", "nan", "wrong-type"),
    ("double", True, "wrong-type"),
    ("string", 1, "wrong-type"),
    ("string", {}, "wrong-type"),
    ("bytes", "A", "invalid-base64"),
    ("bytes", "YQ", "invalid-base64"),
    ("bytes", "YQ==\n", "invalid-base64"),
    ("bytes", "_-==", "invalid-base64"),
    ("bytes", "é===", "invalid-base64"),
    ("bytes", "\ud800AAA", "invalid-base64"),
    ("bytes", [1], "wrong-type"),
    ({"type": "array", "items": {"type": "int8"}}, {}, "wrong-type"),
    (STRINGS, [["a", 1]], "wrong-type"),
    (PAIRS, {"1": "a"}, "wrong-type"),
    ({"type": "struct", "fields": []}, [], "wrong-type"),
]
"""A type's name or a schema, a value of another type, and the check that fails."""


def schema_of(schema: Json) -> Json:
    """Return the schema; a name stands for the type alone."""
    return {"type": schema} if isinstance(schema, str) else schema


@pytest.mark.parametrize(("schema", "value", "typed"), VALUES)
def test_values_become_typed(schema: Json, value: Json, typed: Any) -> None:
    """Each type has one Python type, and every value keeps its exact meaning."""
    found, notes = read_with_notes(schema_of(schema), value)
    assert repr(found) == repr(typed)
    assert notes == []


@pytest.mark.parametrize(("schema", "value", "rule"), REFUSED)
def test_other_values_are_refused(schema: Json, value: Json, rule: str) -> None:
    """A value of another type or out of range is refused, never narrowed or turned into another."""
    with pytest.raises(ValueMismatch) as caught:
        read(schema_of(schema), value)
    assert (caught.value.rule, caught.value.pointer) == (rule, "/payload")
    assert caught.value.schema_pointer == ""
    assert caught.value.actual is value
    assert rule in CODES


@pytest.mark.parametrize(("schema", "value", "typed"), VALUES)
def test_optional_types_take_null(schema: Json, value: Json, typed: Any) -> None:
    """Null is a value where the schema says optional, and only there."""
    node = schema_of(schema)
    optional = compiled({**node, "optional": True})
    assert optional.read(None, "") is None
    assert repr(optional.read(value, "")) == repr(typed)
    for required in (node, {**node, "optional": False}, {**node, "optional": None}):
        with pytest.raises(ValueMismatch, match="found null"):
            compiled(required).read(None, "")


@pytest.mark.parametrize("pair", [[], [1], [1, "a", 2], {"1": "a"}, "1a", None])
def test_pairs_have_two_parts(pair: Json) -> None:
    """An entry of a map without text as keys is an array of key and value."""
    with pytest.raises(ValueMismatch) as caught:
        read(PAIRS, [[1, "a"], pair])
    assert (caught.value.pointer, caught.value.rule) == ("/payload/1", "wrong-length")


@pytest.mark.parametrize(
    ("schema", "value", "pointer", "schema_pointer"),
    [
        ({"type": "array", "items": {"type": "int8"}}, [1, "x"], "/payload/1", "/items"),
        (STRINGS, {"a/~": "x"}, "/payload/a~1~0", "/values"),
        (PAIRS, [[1, "a"], ["x", "b"]], "/payload/1/0", "/keys"),
        (PAIRS, [[1, 2]], "/payload/0/1", "/values"),
        (
            {"type": "array", "items": {"type": "array", "items": {"type": "int8"}}},
            [[], [1, 2, None]],
            "/payload/1/2",
            "/items/items",
        ),
    ],
)
def test_refusals_name_both_places(
    schema: Json, value: Json, pointer: str, schema_pointer: str
) -> None:
    """A refusal points to the value and to the node of the schema that it breaks."""
    with pytest.raises(ValueMismatch) as caught:
        read(schema, value)
    assert (caught.value.pointer, caught.value.schema_pointer) == (pointer, schema_pointer)
    assert pointer in str(caught.value)
    assert schema_pointer in str(caught.value)


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        (2**53 + 1, 2.0**53),
        (Decimal("0.1000000000000000000001"), 0.1),
        (Decimal("1e-400"), 0.0),
    ],
)
def test_rounding_is_noted(value: Json, typed: float) -> None:
    """A number with more digits than a double has becomes the nearest double, noted."""
    assert read_with_notes({"type": "double"}, value) == (typed, [("rounded-number", "/payload")])


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("4.9E-324", 5e-324),
        ("9.999999999999999E22", 1e23),
        ("2.0E-3", 0.002),
        ("2.2250738585072014E-308", 2.2250738585072014e-308),
        ("1.7976931348623157E308", sys.float_info.max),
        ("0.10000000000000001", 0.1),
    ],
)
def test_the_digits_of_a_double_are_no_rounding(text: str, typed: float) -> None:
    """A number as Java or C writes the double is that double, however Python would write it."""
    assert read_with_notes({"type": "double"}, Decimal(text)) == (typed, [])


@pytest.mark.parametrize(
    "text", ["4.9E-325", "3E-324", "1.00000000000000001", "123456789012345678.5"]
)
def test_digits_that_the_double_does_not_have_are_a_rounding(text: str) -> None:
    """A number whose digits no writer gives for the double was rounded."""
    _, notes = read_with_notes({"type": "double"}, Decimal(text))
    assert notes == [("rounded-number", "/payload")]


@pytest.mark.parametrize(("alias", "type_"), [("float32", "float"), ("float64", "double")])
def test_aliases_are_noted(alias: str, type_: str) -> None:
    """Names of other systems for the floating-point types are read, and noted by their place."""
    schema = {"type": "array", "items": {"type": alias}}
    assert read_with_notes(schema, [1.5]) == ([1.5], [("float-alias", "/items")])
    assert read_with_notes({"type": type_}, 1.5) == (1.5, [])
    with pytest.raises(ValueMismatch, match=f"of type {type_}"):
        read(schema, ["x"])
