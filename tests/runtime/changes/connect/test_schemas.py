"""What is a schema of Kafka Connect, and what is refused as none."""

import pickle
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes.connect.helpers import Json, compiled, field, struct
from tests.runtime.codec.formats import modest

from changewire.changes.connect.reader import compile_schema
from changewire.changes.connect.schema import (
    MAX_DEPTH,
    MAX_NODES,
    TYPES,
    ConnectSchemaError,
    ValueMismatch,
)

SEED_SCHEMA = struct(
    field("op", "string", optional=False),
    field("ts_ms", "int64", optional=False),
    field(
        "before",
        "struct",
        optional=True,
        fields=[field("id", "int32", optional=False), field("name", "string", optional=False)],
    ),
    field(
        "after",
        "struct",
        optional=True,
        fields=[field("id", "int32", optional=False), field("name", "string", optional=False)],
    ),
    field(
        "source",
        "struct",
        optional=False,
        fields=[
            field("version", "string", optional=False),
            field("db", "string", optional=False),
            field("namespace", "string", optional=False),
            field("table", "string", optional=False),
            field("ts_ms", "int64", optional=False),
        ],
    ),
    optional=False,
)
"""The schema of the message in the vendor's documentation, whose payload follows."""

SEED_PAYLOAD = {
    "op": "u",
    "ts_ms": 1465491411815,
    "before": {"id": 1004, "name": "Jane"},
    "after": {"id": 1004, "name": "Anne"},
    "source": {
        "version": "v1.0",
        "db": "ld-xxxx",
        "namespace": "default",
        "table": "customers",
        "ts_ms": 1465491411807,
    },
}

NO_SCHEMAS: list[tuple[Json, str]] = [
    ([], ""),
    ("int8", ""),
    (7, ""),
    (False, ""),
    ({"name": "x"}, "/type"),
    ({"type": None}, "/type"),
    ({"type": 5}, "/type"),
    ({"type": ["int8"]}, "/type"),
    ({"type": {"type": "int8"}}, "/type"),
    ({"type": "INT8"}, "/type"),
    ({"type": "int128"}, "/type"),
    ({"type": "int8", "optional": "true"}, "/optional"),
    ({"type": "int8", "optional": 1}, "/optional"),
    ({"type": "int8", "name": 5}, "/name"),
    ({"type": "int8", "parameters": []}, "/parameters"),
    ({"type": "int8", "parameters": {"a/b": 1}}, "/parameters/a~1b"),
    ({"type": "int8", "default": "x"}, "/default"),
    ({"type": "int8", "default": 300}, "/default"),
    ({"type": "array"}, "/items"),
    ({"type": "array", "items": None}, "/items"),
    ({"type": "array", "items": {}}, "/items/type"),
    ({"type": "array", "items": {"type": "int8"}, "default": [1, "x"]}, "/default/1"),
    ({"type": "map", "values": {"type": "int8"}}, "/keys"),
    ({"type": "map", "keys": {"type": "int8"}}, "/values"),
    ({"type": "map", "keys": {"type": "x"}, "values": {"type": "int8"}}, "/keys/type"),
    ({"type": "struct"}, "/fields"),
    ({"type": "struct", "fields": {}}, "/fields"),
    (struct(field("a", "int8"), {"type": "int8"}), "/fields/1/field"),
    (struct(field("a", "int8"), {"type": "int8", "field": 5}), "/fields/1/field"),
    (struct(field("a", "int8"), "b"), "/fields/1"),
    (struct(field("a", "int8"), field("b", "int8"), field("a", "string")), "/fields/2/field"),
    (struct(field("s", "struct", fields=[field("x", "y")])), "/fields/0/fields/0/type"),
]
"""What is no schema, and the place that the error names."""


def nested(depth: int) -> Json:
    """Return a schema of arrays with so many levels."""
    schema: Json = {"type": "int8"}
    for _ in range(depth - 1):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize("schema", [None, {}])
def test_no_schema_says_nothing(schema: Json) -> None:
    """Null and the empty object stand for a schema that was left out: there is no reader."""
    assert compile_schema(schema) is None


def test_the_message_of_the_documentation() -> None:
    """The documented schema reads the documented payload, and all of it is as JSON has it."""
    notes: list[Any] = []
    found = compiled(SEED_SCHEMA).read(SEED_PAYLOAD, "/payload", notes=notes)
    assert found == SEED_PAYLOAD
    assert list(found) == list(SEED_PAYLOAD)
    assert notes == []


@pytest.mark.parametrize(
    ("change", "pointer", "schema_pointer"),
    [
        ({"op": None}, "/payload/op", "/fields/0"),
        ({"after": {"id": 1004}}, "/payload/after/name", "/fields/3/fields/1"),
        ({"before": {"id": 2**31, "name": "x"}}, "/payload/before/id", "/fields/2/fields/0"),
        ({"source": None}, "/payload/source", "/fields/4"),
    ],
)
def test_the_documented_schema_refuses(change: Json, pointer: str, schema_pointer: str) -> None:
    """A payload that breaks the documented schema is refused with both places."""
    with pytest.raises(ValueMismatch) as caught:
        compiled(SEED_SCHEMA).read({**SEED_PAYLOAD, **change}, "/payload")
    assert (caught.value.pointer, caught.value.schema_pointer) == (pointer, schema_pointer)


@pytest.mark.parametrize(("schema", "pointer"), NO_SCHEMAS)
def test_what_is_no_schema_is_refused(schema: Json, pointer: str) -> None:
    """A JSON value that is no schema raises ConnectSchemaError, which names the place."""
    with pytest.raises(ConnectSchemaError) as caught:
        compile_schema(schema)
    assert caught.value.pointer == pointer
    assert caught.value.expected


def test_unknown_types_are_refused_with_the_known_ones() -> None:
    """The error of an unknown type lists the types there are, and not what was sent."""
    with pytest.raises(ConnectSchemaError) as caught:
        compile_schema({"type": "secret"})
    assert all(name in str(caught.value) for name in TYPES)
    assert caught.value.actual == "secret"
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - made here
    assert str(copy).startswith("Kafka Connect schema: at /type: expected one of boolean, int8")
    assert b"secret" not in pickle.dumps(caught.value)


@pytest.mark.parametrize("member", ["optional", "name", "parameters", "default", "doc", "version"])
def test_null_members_are_absent(member: str) -> None:
    """Some writers send null for what a schema does not say."""
    assert compiled({"type": "int8", member: None}).read(5, "") == 5


def test_depth_is_bounded() -> None:
    """A schema may be nested 64 levels deep, and its values with it; a deeper one is refused."""
    deepest: Json = 5
    for _ in range(MAX_DEPTH - 1):
        deepest = [deepest]
    assert compiled(nested(MAX_DEPTH)).read(deepest, "") == deepest
    for depth in (MAX_DEPTH + 1, sys.getrecursionlimit() * 3):
        with pytest.raises(ConnectSchemaError, match="at most 64 levels"):
            compile_schema(nested(depth))


def test_size_is_bounded() -> None:
    """A schema may have 20,000 nodes; a larger one is refused before it fills the memory."""
    fields = [field(str(i), "int8") for i in range(MAX_NODES - 1)]
    assert compile_schema(struct(*fields)) is not None
    with pytest.raises(ConnectSchemaError, match="at most 20000 types and fields"):
        compile_schema(struct(*fields, field("one more", "int8")))


@modest
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.sampled_from([*TYPES, "float32", "x"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "field", "fields", "items", "keys", "values", "optional", "default"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_nothing_but_schema_errors(schema: Json) -> None:
    """Whatever JSON value is given as a schema: it compiles, or raises ConnectSchemaError."""
    pointer = ""
    try:
        compile_schema(schema)
    except ConnectSchemaError as error:
        pointer = error.pointer
    assert pointer == "" or pointer.startswith("/")
