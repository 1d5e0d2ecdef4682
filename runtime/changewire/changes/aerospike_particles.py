"""Values of Aerospike bins in MessagePack: as values of a change, as in one made from JSON."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import msgspec
from msgspec.msgpack import Ext

from changewire.codec import ExtKey, json_form

INTEGER: Final = 1
DOUBLE: Final = 2
STRING: Final = 3
BLOB: Final = 4
BLOBS_OF_CLIENTS: Final = range(7, 13)
"""Objects that clients wrote in Java, C#, Python, Ruby, PHP and Erlang."""

BOOLEAN: Final = 17
HYPERLOGLOG: Final = 18
MAP: Final = 19
LIST: Final = 20
GEOJSON: Final = 23

DURABLE: Final = 1
"""Flag of a delete that left a tombstone on the server."""

PLAIN: Final = frozenset({INTEGER, DOUBLE, STRING, BOOLEAN})
"""Particle types whose values show them, and that have nothing more to say."""

_WORDS: Final[Mapping[int, str]] = {BLOB: "blob", MAP: "map", LIST: "list", GEOJSON: "geojson"}
MAP_ORDERS: Final[Mapping[int, str]] = {1: "key", 3: "key-value"}
"""Words of the JSON form for the flags of a map that the server keeps sorted."""


def column_value(type: int, value: Any) -> Any:
    """Return the value of a bin as the column of a change."""
    if type == DOUBLE:
        return value if isfinite(value) else json_form(value)
    if type in {MAP, LIST}:
        return json_form(value, _particle)
    if type == GEOJSON:
        return geojson(value, value)
    return value if isinstance(value, (bytes, int, str, bool)) else json_form(value)


def _particle(value: Ext | ExtKey) -> Any:
    """Return a particle inside a list or a map: the code of its extension type is its type."""
    if value.code == GEOJSON and isinstance(value, Ext):
        return geojson(bytes(value.data), json_form(value))
    return json_form(value)


def geojson(text: str | bytes, otherwise: Any) -> Any:
    """Return GeoJSON as JSON has it; something else if it is not GeoJSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return otherwise


def note(type: int, flags: int) -> dict[str, Any]:
    """Return what the column of a bin does not show of its type, in the words of the JSON form."""
    if type == LIST and flags in {0, 1}:
        return {"type": "list", "ordered": flags == 1}
    if type == MAP and (flags == 0 or flags in MAP_ORDERS):
        return {"type": "map", "order": MAP_ORDERS[flags]} if flags else {}
    found: dict[str, Any] = {} if type in PLAIN else {"type": _WORDS.get(type, type)}
    return {**found, "flags": flags} if flags else found
