"""Columns of schemas, and what changed between two of them."""

import pytest
from hypothesis import given
from tests.runtime.changes.connect.helpers import CONNECT, DATA, TIME, Json, field, logical, struct
from tests.runtime.changes.connect.strategies import schemas
from tests.runtime.codec.formats import modest

from changewire.changes.connect.differences import Difference, columns, differences
from changewire.changes.connect.schema import ConnectSchemaError

MONEY = {"name": CONNECT + "Decimal", "parameters": {"scale": "2"}}
OLD = struct(
    field("id", "int32"),
    field("a/b", "string", optional=True),
    field("row", "struct", fields=[field("x", "int8"), field("y", "float32")], name="any.Value"),
)


def test_columns_have_their_types() -> None:
    """Every field is a column, nested ones too; logical types follow the type they are based on."""
    schema = struct(
        *OLD["fields"],
        field("price", "bytes", **MONEY),
        field("day", "int32", name=TIME + "Date", optional=True),
        field("tags", "array", items={"type": "string", "optional": True}),
        field("lines", "array", items=struct(field("n", "int8"), field("s", "string"))),
        field("map", "map", keys={"type": "int8"}, values=logical("int32", CONNECT + "Date")),
        field(
            "any",
            "struct",
            fields=[field("scale", "int32"), field("value", "bytes")],
            name=DATA + "VariableScaleDecimal",
        ),
    )
    assert columns(schema) == {
        "/id": "int32",
        "/a~1b": "string",
        "/row": "struct",
        "/row/x": "int8",
        "/row/y": "float",
        "/price": f"bytes:{CONNECT}Decimal(2)",
        "/day": f"int32:{TIME}Date",
        "/tags": "array<string?>",
        "/lines": "array<struct<n:int8,s:string>>",
        "/map": f"map<int8,int32:{CONNECT}Date>",
        "/any": f"struct:{DATA}VariableScaleDecimal",
    }


@pytest.mark.parametrize(
    ("schema", "expected"),
    [(None, {}), ({}, {}), ({"type": "int8"}, {"": "int8"}), (struct(), {})],
)
def test_schemas_without_fields(schema: Json, expected: dict[str, str]) -> None:
    """No schema has no columns; one that is no struct is one column without a name."""
    assert columns(schema) == expected


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ([field("more", "int8", optional=True)], [("/more", "added", None, "int8?")]),
        ([field("id", "int64")], [("/id", "type-changed", "int32", "int64")]),
        ([field("id", "int32", optional=True)], [("/id", "optional-changed", "int32", "int32?")]),
        (
            [field("id", "int32", name=TIME + "Date")],
            [("/id", "type-changed", "int32", f"int32:{TIME}Date")],
        ),
        (
            [field("row", "struct", fields=[field("y", "float"), field("z", "int8")])],
            [("/row/x", "removed", "int8", None), ("/row/z", "added", None, "int8")],
        ),
        (
            [field("row", "string", optional=True)],
            [
                ("/row", "type-changed", "struct", "string?"),
                ("/row", "optional-changed", "struct", "string?"),
                ("/row/x", "removed", "int8", None),
                ("/row/y", "removed", "float", None),
            ],
        ),
        ([field("id", "int32", default=5, doc="other", version=2)], []),
    ],
)
def test_differences_name_column_and_types(
    new: list[Json], expected: list[tuple[str, str, str | None, str | None]]
) -> None:
    """A column that came, went or is another type now is named with both of its types."""
    changed = {item["field"]: item for item in [*OLD["fields"], *new]}
    found = differences(OLD, struct(*changed.values()))
    assert [(d.path, d.kind, d.old, d.new) for d in found] == expected


def test_changes_within_decimals_and_arrays_are_seen() -> None:
    """The scale of a decimal, and what an array holds, belong to the type of the column."""
    old = struct(field("a", "bytes", **MONEY), field("b", "array", items={"type": "int8"}))
    new = struct(
        field("a", "bytes", name=MONEY["name"], parameters={"scale": "3"}),
        field("b", "array", items={"type": "int8", "optional": True}),
    )
    assert differences(old, new) == [
        Difference(
            "/a", "type-changed", f"bytes:{CONNECT}Decimal(2)", f"bytes:{CONNECT}Decimal(3)"
        ),
        Difference("/b", "type-changed", "array<int8>", "array<int8?>"),
    ]


def test_a_schema_that_comes_is_all_new() -> None:
    """Where messages had no schema before, every column is added."""
    assert [d.kind for d in differences({}, OLD)] == ["added"] * 5
    assert [d.kind for d in differences(OLD, None)] == ["removed"] * 5


def test_what_is_no_schema_is_refused() -> None:
    """Differences exist between schemas only."""
    with pytest.raises(ConnectSchemaError):
        differences(OLD, {"type": "x"})


def test_paths_are_bounded() -> None:
    """A long name above many columns is refused before its copies fill the memory."""
    fields = [field(str(i), "int8") for i in range(1000)]
    assert len(columns(struct(field("x" * 7_000, "struct", fields=fields)))) == 1001
    with pytest.raises(ConnectSchemaError, match="8000000 characters"):
        columns(struct(field("x" * 9_000, "struct", fields=fields)))


@modest
@given(schemas(), schemas())
def test_differences_turn_around(old: Json, new: Json) -> None:
    """A schema has no difference to itself, and both directions see the same columns differ."""
    assert differences(old, old) == []
    there, back = differences(old, new), differences(new, old)
    assert {(d.path, d.old, d.new) for d in there} == {(d.path, d.new, d.old) for d in back}
    seen = {d.path for d in there}
    for path, type_ in columns(old).items():
        assert path in seen or columns(new)[path] == type_
