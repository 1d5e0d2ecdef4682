"""Random schemas of Kafka Connect, and values under them.

A value is JSON as Kafka's converter would write it, in its canonical form, so that what a writer
makes of the typed value must be the same again.
"""

import base64
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from tests.runtime.changes.connect.helpers import CONNECT, DATA, TIME, Json
from tests.runtime.changes.connect.writer import EPOCH, SCALE, UTC, unscaled

from changewire.changes.connect.logical import LOGICAL_TYPES

names = st.text(st.characters(codec="utf-8"), max_size=5)
texts = st.text(st.characters(codec="utf-8"), max_size=8)
blobs = st.binary(max_size=12).map(lambda data: base64.b64encode(data).decode())


def integers(bits: int) -> st.SearchStrategy[int]:
    """Return a strategy for integers of so many bits."""
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


DATES = st.dates().map(lambda day: (day - EPOCH.date()).days)
TIMES = st.datetimes(timezones=st.just(UTC)).map(lambda at: (at - EPOCH) // timedelta(0, 0, 1))
DAY_MILLISECONDS = st.integers(0, 24 * 60 * 60 * 1000 - 1)

SCALARS: dict[tuple[str, str], st.SearchStrategy[Json]] = {
    ("boolean", ""): st.booleans(),
    ("int8", ""): integers(8),
    ("int16", ""): integers(16),
    ("int32", ""): integers(32),
    ("int64", ""): integers(64),
    ("float", ""): st.floats(width=32, allow_nan=False, allow_infinity=False),
    ("double", ""): st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["NaN", "Infinity", "-Infinity"]),
    ("string", ""): texts,
    ("bytes", ""): blobs,
    ("bytes", CONNECT + "Decimal"): st.integers(-(10**40), 10**40).map(unscaled),
    ("int32", CONNECT + "Date"): DATES,
    ("int32", CONNECT + "Time"): DAY_MILLISECONDS,
    ("int64", CONNECT + "Timestamp"): TIMES.map(lambda at: at // 1000),
    ("int32", TIME + "Date"): DATES,
    ("int64", TIME + "MicroTime"): DAY_MILLISECONDS.map(lambda at: at * 1000 + 1),
    ("int64", TIME + "NanoTime"): DAY_MILLISECONDS.map(lambda at: at * 10**6 + 1000),
    ("int64", TIME + "MicroTimestamp"): TIMES,
    ("string", TIME + "ZonedTimestamp"): st.datetimes().map(lambda at: f"{at.isoformat()}Z"),
    ("string", TIME + "IsoDate"): st.dates().map(lambda day: f"{day.isoformat()}Z"),
    ("string", TIME + "IsoTime"): st.times().map(lambda at: f"{at.isoformat()}Z"),
    ("int64", TIME + "MicroDuration"): integers(64),
}
"""JSON values of every scalar, by type and logical name."""


LOGICAL_NAMES = st.sampled_from([name for name, _ in sorted(LOGICAL_TYPES)])

_PARTS = ("items", "keys", "values")


@st.composite
def nodes(draw: st.DrawFn, inner: st.SearchStrategy[Json] | None = None) -> Json:
    """Draw a scalar, or a container of what `inner` draws."""
    optional = draw(st.sampled_from([{}, {"optional": False}, {"optional": True}]))
    if inner is None:
        type_, name = draw(st.sampled_from(sorted(SCALARS)))
        node = {"type": type_, **({"name": name} if name else {}), **optional}
        return {**node, "parameters": {"scale": str(SCALE)}} if "Decimal" in name else node
    type_ = draw(st.sampled_from(["array", "map", "struct"]))
    if type_ == "array":
        return {"type": type_, "items": draw(inner), **optional}
    if type_ == "map":
        return {"type": type_, "keys": draw(inner), "values": draw(inner), **optional}
    fields = [{**draw(inner), "field": name} for name in draw(st.sets(names, max_size=4))]
    return {"type": type_, "fields": fields, **optional}


def schemas() -> st.SearchStrategy[Json]:
    """Return a strategy for schemas."""
    return st.recursive(nodes(), nodes, max_leaves=8)


@st.composite
def misnamed(draw: st.DrawFn) -> Json:
    """Draw a schema in which any node may have the name of any logical type, fitting or not."""
    schema = draw(schemas() | st.builds(_variable_scale_decimal))
    todo = schema["fields"][:] if schema == _variable_scale_decimal() else [schema]
    while todo:
        node = todo.pop()
        fitting = [name for name, type_ in LOGICAL_TYPES if type_ == node["type"]]
        node["name"] = draw(st.sampled_from([None, *fitting]) | LOGICAL_NAMES)
        node["parameters"] = {"scale": "2"}
        todo.extend([*node.get("fields", ()), *(node[k] for k in _PARTS if k in node)])
    return schema


def _variable_scale_decimal() -> Json:
    parts = [{"type": "int32", "field": "scale"}, {"type": "bytes", "field": "value"}]
    return {"type": "struct", "name": DATA + "VariableScaleDecimal", "fields": parts}


@st.composite
def values(draw: st.DrawFn, schema: Json) -> Json:
    """Draw a JSON value that is valid under a schema; optional fields may be absent."""
    if schema.get("optional") and draw(st.integers(0, 3)) == 0:
        return None
    match schema["type"]:
        case "array":
            return draw(st.lists(values(schema["items"]), max_size=3))
        case "map" if schema["keys"]["type"] == "string":
            return draw(st.dictionaries(texts, values(schema["values"]), max_size=3))
        case "map":
            pairs = st.tuples(values(schema["keys"]), values(schema["values"]))
            return draw(st.lists(pairs.map(list), max_size=3))
        case "struct":
            present = [
                field
                for field in schema["fields"]
                if not field.get("optional") or draw(st.booleans())
            ]
            order = draw(st.permutations(present))
            return {field["field"]: draw(values(field)) for field in order}
        case type_:
            fitting = SCALARS.get((type_, schema.get("name") or ""), SCALARS[type_, ""])
            return draw(fitting)


def places(
    schema: Json, value: Json, at: str = "", schema_at: str = ""
) -> Iterator[tuple[str, str, Json, Any, Any]]:
    """Yield each value in a container: its pointer, its schema's, the schema, holder and key."""
    for step, part_at, part, holder, key in _inner(schema, value):
        here = (f"{at}/{step}", f"{schema_at}/{part_at}", part)
        yield (*here, holder, key)
        yield from places(part, holder[key], *here[:2])


def _inner(schema: Json, value: Json) -> Iterator[tuple[str, str, Json, Any, Any]]:
    """Yield what one container holds: with the steps to it, of pointer and schema's pointer."""
    type_ = schema["type"]
    if type_ == "struct" and value is not None:
        for i, field in enumerate(schema["fields"]):
            if field["field"] in value:
                yield _token(field["field"]), f"fields/{i}", field, value, field["field"]
    elif type_ == "map" and isinstance(value, list):
        for i, pair in enumerate(value):
            yield f"{i}/0", "keys", schema["keys"], pair, 0
            yield f"{i}/1", "values", schema["values"], pair, 1
    elif type_ in ("array", "map") and value is not None:
        part = "items" if type_ == "array" else "values"
        for key in value if type_ == "map" else range(len(value)):
            yield _token(str(key)), part, schema[part], value, key


def _token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
