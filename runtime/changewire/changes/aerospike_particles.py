"""Values of Aerospike bins in MessagePack: as values of a change, as in one made from JSON."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import msgspec
from msgspec.msgpack import Ext

from changewire.codec import ExtKey, json_form
from changewire_messages.aerospike_json import BlobBin, GeojsonBin, ListBin, MapBin
from changewire_messages.aerospike_msgpack import values as wire

PLAIN: Final = frozenset(
    {wire.INTEGER_BIN, wire.DOUBLE_BIN, wire.STRING_BIN, wire.BOOLEAN_BIN},
)
"""Particle types whose values show them, and that have nothing more to say."""

_WORDS: Final[Mapping[int, str]] = {
    wire.BLOB_BIN: BlobBin.type,
    wire.MAP_BIN: MapBin.type,
    wire.LIST_BIN: ListBin.type,
    wire.GEOJSON_BIN: GeojsonBin.type,
}
MAP_ORDERS: Final[Mapping[int, str]] = {
    known.value: known.means for known in wire.MAP_BIN_FLAGS if known.value != wire.UNORDERED
}
"""Words of the JSON form for the flags of a map that the server keeps sorted."""

LIST_ORDERS: Final[Mapping[int, bool]] = {
    known.value: known.value == wire.ORDERED for known in wire.LIST_BIN_FLAGS
}
"""Whether the server keeps a list sorted, by its flags."""


def column_value(type: int, value: Any) -> Any:
    """Return the value of a bin as the column of a change."""
    if type == wire.DOUBLE_BIN:
        return value if isfinite(value) else json_form(value)
    if type in {wire.MAP_BIN, wire.LIST_BIN}:
        return json_form(value, _particle)
    if type == wire.GEOJSON_BIN:
        return geojson(value, value)
    return value if isinstance(value, (bytes, int, str, bool)) else json_form(value)


def show_user_key(attributes: dict[str, Any]) -> None:
    """Make text of a user key that is not a number or infinite: JSON has no number for it."""
    key = attributes["user_key"]
    if type(key) is float:
        attributes["user_key"] = json_form(key)


def _particle(value: Ext | ExtKey) -> Any:
    """Return a particle inside a list or a map: the code of its extension type is its type."""
    if value.code == wire.GEOJSON_BIN and isinstance(value, Ext):
        return geojson(bytes(value.data), json_form(value))
    return json_form(value)


def geojson(text: str | bytes, otherwise: Any) -> Any:
    """Return GeoJSON as in JSON; something else if it is not GeoJSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return otherwise


def note(type: int, flags: int) -> dict[str, Any]:
    """Return what the column of a bin does not show of its type, in the words of the JSON form."""
    if type == wire.LIST_BIN and flags in LIST_ORDERS:
        return {"type": _WORDS[type], "ordered": LIST_ORDERS[flags]}
    if type == wire.MAP_BIN and flags == wire.UNORDERED:
        return {}
    if type == wire.MAP_BIN and flags in MAP_ORDERS:
        return {"type": _WORDS[type], "order": MAP_ORDERS[flags]}
    found: dict[str, Any] = {} if type in PLAIN else {"type": _WORDS.get(type, type)}
    return {**found, "flags": flags} if flags else found
