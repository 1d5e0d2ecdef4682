"""What the Arrow builders of all families share.

Copied into each generated package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from changewire_codegen.library.forms import exact_form
from changewire_codegen.library.support import Extra

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


def column(values: Sequence[object], kind: object) -> Array:
    """Return an array of scalars; NULL for None."""
    array: Array = untyped.array(values, kind)
    return array


def known(values: Sequence[object]) -> list[Any]:
    """Return values with None in place of UNSET."""
    return [None if value is msgspec.UNSET else value for value in values]


def structs(columns: Mapping[str, Array]) -> Structs:
    """Return an array of structs from its columns."""
    array: Structs = untyped.StructArray.from_arrays(list(columns.values()), names=list(columns))
    return array


def _unknown(value: object) -> object:
    """Encode what only generated models hold: an open tag, unknown properties, or no value."""
    if value is UNSET:
        return None
    return dict(value) if isinstance(value, Extra) else str(value)


_json_lines = msgspec.json.Encoder(enc_hook=_unknown).encode_lines


def json_texts(values: Sequence[object], *, nullable: bool = False) -> Array:
    """Return values as JSON text; NULL for UNSET, and for None if ``nullable``.

    Bytes become Base64 text, times ISO 8601 text, decimals text with every digit.
    """
    absent = None if nullable else UNSET
    is_there = [value is not absent and value is not UNSET for value in values]
    if not any(is_there):
        return nulls(len(values), STRING)
    # JSON text holds no line feed: one text for all values, cut by Arrow, takes half the time.
    lines = untyped.array([_json_lines(values)], BYTES).view(STRING)
    texts: Array = untyped_compute.split_pattern(lines, "\n").flatten().slice(0, len(values))
    return texts if all(is_there) else _with_nulls(texts, is_there)


def _with_nulls(texts: Array, is_there: list[bool]) -> Array:
    """Return an array with NULL in places, whose other values are not copied."""
    _, offsets, data = texts.buffers()
    _, bitmap = untyped.array(is_there).buffers()
    array: Array = untyped.StringArray.from_buffers(len(texts), offsets, data, bitmap)
    return array


def exact_texts(values: Sequence[object], *, nullable: bool = False) -> Array:
    """Return MessagePack values as JSON text as `exact_form` has it; NULL as in `json_texts`."""
    return json_texts(list(map(exact_form, values)), nullable=nullable)


def raw_texts(values: Sequence[Any]) -> Array:
    """Return JSON text as it was received; NULL for UNSET and for null."""
    texts = [None if value is UNSET else bytes(value) for value in values]
    return column([None if text == b"null" else text for text in texts], BYTES).cast(STRING)


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
        _offsets(values), column(keys, STRING), build(items)
    )
    return array


def _offsets(values: Sequence[Any]) -> Array:
    """Return where each value begins, and where the last one ends; NULL marks a NULL value."""
    ends = list(accumulate((len(value or ()) for value in values), initial=0))
    starts = [None if value is None else start for value, start in zip(values, ends, strict=False)]
    array: Array = untyped.array([*starts, ends[-1]], untyped.int32())
    return array
