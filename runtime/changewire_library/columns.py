"""What the Arrow builders of all families share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from changewire_library.fields import Column, Field, ListOf, MapOf, Presence, Struct
from changewire_library.forms import exact_form
from changewire_library.support import Extra

# The published stubs of pyarrow know its types for one column at a time, and no column of any type.
untyped: Any = pa
untyped_compute: Any = pc

Array: TypeAlias = "pa.Array[Any]"
Structs: TypeAlias = pa.StructArray
Build: TypeAlias = Callable[[list[Any]], Array]

BOOLEAN: Any = untyped.bool_()
INT32: Any = untyped.int32()
INTEGER: Any = untyped.int64()
NUMBER: Any = untyped.float64()
STRING: Any = untyped.string()
BYTES: Any = untyped.binary()
DATETIME: Any = untyped.timestamp("us", tz="UTC")

_LEAVES: Mapping[str, Any] = {
    "boolean": BOOLEAN,
    "int32": INT32,
    "integer": INTEGER,
    "number": NUMBER,
    "bytes": BYTES,
    "datetime": DATETIME,
}
"""Types of scalars; the others are strings."""


def arrow_type(column: Column) -> Any:
    """Return the type of a described column."""
    if isinstance(column, Struct):
        return untyped.struct([(field.name, arrow_type(field.column)) for field in column.fields])
    if isinstance(column, ListOf):
        return untyped.list_(arrow_type(column.items))
    if isinstance(column, MapOf):
        return untyped.map_(STRING, arrow_type(column.items))
    return _LEAVES.get(column, STRING)


def builder(struct: Struct) -> Callable[[Sequence[Any]], Structs]:
    """Return the function from models to an array of structs."""
    columns = {field.name: _of_models(field) for field in struct.fields}
    return lambda values: structs({name: build(values) for name, build in columns.items()})


def _of_models(field: Field) -> Callable[[Sequence[Any]], Array]:
    """Return the function from models to the column of a field."""
    name = field.attribute or field.name
    build = _of_values(field.column, field.presence)
    if field.presence == "partial":
        return lambda values: build([getattr(value, name, UNSET) for value in values])
    get = attrgetter(name)
    return lambda values: build(list(map(get, values)))


def _of_values(column: Column, presence: Presence) -> Build:
    """Return the function from values to their array."""
    if isinstance(column, str) and column in _TEXTS:
        return partial(_TEXTS[column], nullable=presence != "required")
    build = _of_known(column, presence)
    if presence in {"required", "nullable"}:
        return build
    return lambda values: build(known(values))


def _of_known(column: Column, presence: Presence) -> Build:
    """Return the function from values, none of which is UNSET, to their array."""
    if isinstance(column, Struct):
        build = builder(column)
        return build if presence == "required" else lambda values: spread(values, build)
    if isinstance(column, (ListOf, MapOf)):
        # Null among objects is NULL; among JSON text it is text.
        presence = "nullable" if isinstance(column.items, Struct) else "required"
        inner = _of_values(column.items, presence)
        gather = lists if isinstance(column, ListOf) else maps
        return lambda values: gather(values, inner)
    kind = _LEAVES.get(column, STRING)
    return lambda values: scalars(values, kind)


def scalars(values: Sequence[object], kind: object) -> Array:
    """Return an array of scalars; NULL for None."""
    array: Array = untyped.array(values, kind)
    return array


def known(values: Sequence[object]) -> list[Any]:
    """Return values with None instead of UNSET."""
    return [None if value is msgspec.UNSET else value for value in values]


def structs(columns: Mapping[str, Array]) -> Structs:
    """Return an array of structs from its columns."""
    array: Structs = untyped.StructArray.from_arrays(list(columns.values()), names=list(columns))
    return array


def _unknown(value: object) -> object:
    """Encode values of generated models only: an open tag, unknown properties, or no value."""
    if value is UNSET:
        return None
    return dict(value) if isinstance(value, Extra) else str(value)


_json_lines = msgspec.json.Encoder(enc_hook=_unknown).encode_lines
_key_lines = msgspec.json.Encoder(enc_hook=_unknown, decimal_format="number").encode_lines


def json_texts(
    values: Sequence[object],
    *,
    nullable: bool = False,
    write: Callable[[Sequence[object]], bytes] = _json_lines,
) -> Array:
    """Return values as JSON text; NULL for UNSET, and for None if ``nullable``.

    Bytes become Base64 text, times ISO 8601 text, decimals text with every digit.
    """
    absent = None if nullable else UNSET
    is_there = [value is not absent and value is not UNSET for value in values]
    if not any(is_there):
        return nulls(len(values), STRING)
    # JSON text holds no line feed: one text for all values, cut by Arrow, takes half the time.
    lines = untyped.array([write(values)], BYTES).view(STRING)
    texts: Array = untyped_compute.split_pattern(lines, "\n").flatten().slice(0, len(values))
    return texts if all(is_there) else _with_nulls(texts, is_there)


def _with_nulls(texts: Array, is_there: list[bool]) -> Array:
    """Return an array with NULL in places, whose other values are not copied."""
    _, offsets, data = texts.buffers()
    _, bitmap = untyped.array(is_there).buffers()
    array: Array = untyped.StringArray.from_buffers(len(texts), offsets, data, bitmap)
    return array


def key_texts(values: Sequence[object]) -> Array:
    """Return keys as `json_texts` does, but with decimals as numbers; NULL for None."""
    return json_texts(values, nullable=True, write=_key_lines)


def exact_texts(values: Sequence[object], *, nullable: bool = False) -> Array:
    """Return MessagePack values as JSON text as `exact_form` has it; NULL as in `json_texts`."""
    return json_texts(list(map(exact_form, values)), nullable=nullable)


def _extra_texts(values: Sequence[Any], *, nullable: bool) -> Array:
    """Return unknown parts of MessagePack messages as JSON text; NULL without any."""
    return exact_texts([dict(value or ()) or None for value in values], nullable=nullable)


def _raw_texts(values: Sequence[Any], *, nullable: bool) -> Array:
    """Return JSON text as it was received; NULL for UNSET and for null."""
    del nullable
    texts = [None if value is UNSET else bytes(value) for value in values]
    return scalars([None if text == b"null" else text for text in texts], BYTES).cast(STRING)


_TEXTS: Mapping[str, Callable[..., Array]] = {
    "exact": exact_texts,
    "extra": _extra_texts,
    "json": json_texts,
    "text": _raw_texts,
}


def nulls(size: int, kind: object) -> Array:
    """Return an array of NULL."""
    array: Array = untyped.nulls(size, kind)
    return array


def spread(values: Sequence[Any], build: Build) -> Array:
    """Return an array of values, some of which are None, from a builder that takes no None."""
    present = [value for value in values if value is not None]
    array = build(present)
    if len(present) == len(values):
        return array
    if not present:
        return nulls(len(values), array.type)
    places = iter(range(len(present)))
    indices = [None if value is None else next(places) for value in values]
    taken: Array = untyped_compute.take(array, pa.array(indices, INTEGER))
    return taken


def lists(values: Sequence[Sequence[Any] | None], build: Build) -> Array:
    """Return an array of lists; a None in ``values`` becomes NULL."""
    items = list(chain.from_iterable(value or () for value in values))
    array: Array = untyped.ListArray.from_arrays(_offsets(values), build(items))
    return array


def maps(values: Sequence[Mapping[str, Any] | None], build: Build) -> Array:
    """Return an array of maps; a None in ``values`` becomes NULL."""
    keys = list(chain.from_iterable(value or () for value in values))
    items = list(chain.from_iterable((value or {}).values() for value in values))
    array: Array = untyped.MapArray.from_arrays(
        _offsets(values), scalars(keys, STRING), build(items)
    )
    return array


def _offsets(values: Sequence[Any]) -> Array:
    """Return where each value begins, and where the last one ends; NULL marks a NULL value."""
    ends = list(accumulate((len(value or ()) for value in values), initial=0))
    starts = [None if value is None else start for value, start in zip(values, ends, strict=False)]
    array: Array = untyped.array([*starts, ends[-1]], untyped.int32())
    return array
