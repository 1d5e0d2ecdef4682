"""Any two schemas: what is judged compatible is accepted."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.codegen.made import NAMES
from tests.compat.pairs import strategy

from changewire_codegen.compat.diff import Compared, compare_families
from changewire_codegen.compat.rules import SIDES
from changewire_codegen.judge import Judge
from changewire_codegen.load import family_of
from changewire_codegen.names import python_name
from changewire_codegen.nodes import Family

Node = dict[str, Any]

ALL_KINDS = ("circle", "square", "star")
FILE = "sample.json"
BOUNDS = {"integer": ("minimum", "maximum"), "string": ("minLength", "maxLength")}

NAME_PAIRS = st.shared(
    st.just(["value", "note"])
    | st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique_by=python_name),
    key="names of the properties",
)

SOME = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def bounded(kind: str) -> st.SearchStrategy[Node]:
    """Draw a type with a lower bound, an upper one, both or none."""
    lower, upper = BOUNDS[kind]
    low, high = st.integers(0, 3), st.integers(4, 7)
    return st.fixed_dictionaries({"type": st.just(kind)}, optional={lower: low, upper: high})


def scalars() -> st.SearchStrategy[Node]:
    """Draw the schema of a scalar, of several, or of listed values."""
    plain: list[Node] = [
        {},
        {"type": "boolean"},
        {"type": "number"},
        {"type": "number", "minimum": 2},
        {"type": ["integer", "number"], "minimum": 0},
        {"type": ["string", "null"], "minLength": 2},
        {"type": ["integer", "boolean", "null"]},
        {"type": "string", "contentEncoding": "base64"},
        {"type": "string", "contentEncoding": "base64", "x-minBytes": 3},
        {"type": "string", "format": "date-time"},
        {"const": "ab"},
        {"enum": ["a", "ab", "abc"]},
        {"enum": [1, 5]},
    ]
    return st.sampled_from(plain) | bounded("integer") | bounded("string")


def collections(items: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """Draw the schema of a list or of a map, which may be null."""
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": items}, optional={"minItems": st.integers(0, 2)}
    )
    maps = st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": items})
    return lists | maps | lists.map(lambda node: {"anyOf": [node, {"type": "null"}]})


@st.composite
def unions(draw: st.DrawFn) -> tuple[Node, Node]:
    """Draw definitions of a union of some kinds, and the reference to it."""
    kinds = draw(st.lists(st.sampled_from(ALL_KINDS), min_size=2, unique=True))
    tags: dict[str, Node] = {kind.capitalize(): {"const": kind} for kind in kinds}
    if draw(st.booleans()):
        tags["Other"] = {"type": "string", "not": {"enum": kinds}}
    definitions: Node = {
        title: {
            "title": title,
            "description": "A kind.",
            "type": "object",
            "properties": {
                "kind": {"description": "Its kind.", **tag},
                "size": {"description": "Its size.", **draw(scalars())},
            },
            "required": ["kind", *draw(st.sampled_from([[], ["size"]]))],
        }
        for title, tag in tags.items()
    }
    arms = [{"$ref": f"#/$defs/{title}"} for title in tags]
    definitions["Shape"] = {"title": "Shape", "description": "A shape.", "oneOf": arms}
    return definitions, {"$ref": "#/$defs/Shape"}


@st.composite
def families(draw: st.DrawFn) -> Family:
    """Draw a family of one schema; all that one test draws have the same names."""
    value, note = draw(NAME_PAIRS)
    definitions, shape = draw(unions() | st.just(({}, None)))
    node = shape if shape is not None else draw(scalars() | collections(scalars()))
    schema: Node = {
        "title": "Sample",
        "description": "A sample.",
        "type": "object",
        "properties": {
            value: {"description": "A value.", **node},
            note: {"description": "A note.", **draw(scalars())},
        },
        "required": draw(st.lists(st.sampled_from([value, note]), unique=True)),
        "examples": [{}],
        **({"$defs": definitions} if definitions else {}),
    }
    meta = {"title": "Samples", "description": "Samples.", "encoding": "json"}
    texts = {"family.json": json.dumps(meta).encode(), FILE: json.dumps(schema).encode()}
    return family_of("samples", texts)


@SOME
@given(families(), families(), st.data())
def test_compatible_schemas_take_each_others_messages(
    old: Family, new: Family, data: st.DataObject
) -> None:
    """Where nothing is judged as lost, messages drawn from one schema are taken by the other."""
    (compared,) = compare_families([old], [new])
    for side in SIDES:
        writer, reader = (old, new) if side == "readers" else (new, old)
        if all(item.verdicts[side] == "compatible" for item in compared.found):
            for _ in range(5):
                message = data.draw(strategy(writer, FILE))
                assert Judge(reader).issues(message, FILE, strict=False) == []


def test_differences_of_a_schema_with_itself_are_none() -> None:
    """A state that is loaded twice has no difference."""

    @SOME
    @given(families())
    def holds(family: Family) -> None:
        again = family_of(
            family.name,
            {
                "family.json": json.dumps(family.meta).encode(),
                FILE: json.dumps(family.schemas[FILE]).encode(),
            },
        )
        assert compare_families([family], [again]) == [Compared(family, again, [])]

    holds()
