"""What holds for every schema and every value under it."""

import copy
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.runtime.changes.connect.helpers import NOTES, Json, compiled
from tests.runtime.changes.connect.strategies import misnamed, places, schemas, values
from tests.runtime.changes.connect.writer import write
from tests.runtime.codec.formats import thorough

from changewire.changes.connect.reads import Note
from changewire.changes.connect.schema import ValueMismatch

WRONG: dict[str, list[Json]] = {
    "boolean": [0, "true", {}],
    "int8": [128, 1.0, "1", [], True],
    "int16": [2**15, 1.0, "1", [], True],
    "int32": [2**31, 1.0, "1", [], True],
    "int64": [2**63, 1.0, "1", [], True],
    "float": [1e39, "1.5", {}, False],
    "double": [10**400, "1.5", {}, False],
    "string": [1, [], {}, True],
    "bytes": ["*", "YQ", [], {}, True],
    "array": [{}, "x", 1],
    "map": [1, "x", True],
    "struct": [[], "x", 1],
}
"""Values that no schema of the type allows."""


@thorough
@given(st.data())
def test_reading_and_writing_gives_the_same(data: st.DataObject) -> None:
    """Every valid value is read, and an independent writer makes the same JSON of the result."""
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    before = copy.deepcopy(value)
    notes: list[Note] = []
    written = write(schema, compiled(schema).read(value, "", notes=notes))
    assert repr(written) == repr(value)
    assert repr(value) == repr(before)
    assert notes == []


@thorough
@given(st.data())
def test_a_wrong_value_is_refused_where_it_stands(data: st.DataObject) -> None:
    """A wrong value anywhere in a valid one is refused, with its own place and the schema's."""
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    found = list(places(schema, value))
    assume(found)
    at, schema_at, part, holder, key = data.draw(st.sampled_from(found))
    wrong = data.draw(st.sampled_from([*WRONG[part["type"]], None]))
    assume(wrong is not None or not part.get("optional"))
    holder[key] = wrong
    assert refusal(schema, value) == ("/payload" + at, schema_at, wrong)


def refusal(schema: Json, value: Json) -> tuple[str, str, Any] | None:
    """Return both places of a refusal, and the value it holds."""
    try:
        compiled(schema).read(value, "/payload")
    except ValueMismatch as error:
        return error.pointer, error.schema_pointer, error.actual
    return None


@thorough
@given(st.data())
def test_an_absent_field_is_refused_unless_partial(data: st.DataObject) -> None:
    """Without a required field a value is refused where it belongs; a partial one may lack it."""
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    found = [place for place in places(schema, value) if "field" in place[2]]
    required = [place for place in found if not place[2].get("optional")]
    assume(required)
    at, schema_at, _, holder, key = data.draw(st.sampled_from(required))
    del holder[key]
    place = refusal(schema, value)
    assert place is not None
    assert place[:2] == ("/payload" + at, schema_at)
    assert repr(write(schema, compiled(schema).read(value, "", partial=True))) == repr(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@thorough
@given(st.data(), misnamed(), st.booleans())
def test_nothing_but_mismatches(data: st.DataObject, schema: Json, partial: bool) -> None:  # noqa: FBT001
    """Whatever value is given under whatever schema: it is read, or raises ValueMismatch."""
    value = data.draw(json_values | values(schema))
    notes: list[Note] = []
    pointer = "/payload"
    try:
        compiled(schema).read(value, "/payload", partial=partial, notes=notes)
    except ValueMismatch as error:
        pointer = error.pointer
    assert pointer.startswith("/payload")
    assert {note.kind for note in notes} <= NOTES
