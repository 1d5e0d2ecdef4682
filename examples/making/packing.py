"""Messages of Aerospike in MessagePack, made of their JSON form."""

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgpack
from examples.making.rows import Json
from examples.making.shapes import text

WRITE: Final = 1
DELETE: Final = 2

_MAP_ORDERS: Final = {None: 0, "key": 1, "key-value": 3}


def _unchanged(value: Any) -> Any:
    return value


_TYPES: Final[Mapping[str, tuple[int, Callable[[Any], Any]]]] = {
    "int": (1, _unchanged),
    "float": (2, float),
    "str": (3, _unchanged),
    "blob": (4, b64decode),
    "bool": (17, _unchanged),
    "hll": (18, b64decode),
    "map": (19, _unchanged),
    "list": (20, _unchanged),
    "geojson": (23, lambda value: text(value).decode()),
}
"""Number of each type word, and what makes its value of the JSON one."""


def packed(message: Json | list[Json]) -> bytes:
    """Return the bytes of a message or a batch."""
    return pack(list(map(parts, message)) if isinstance(message, list) else parts(message))


def pack(value: object) -> bytes:
    """Return MessagePack, as the connector writes it."""
    data: bytes = msgpack.packb(value, use_bin_type=True)
    return data


def parts(message: Json) -> list[Any]:
    """Return the parts of a message; what its JSON form leaves out is nil."""
    key, version = _key(message["key"]), [message.get(name) for name in ("gen", "exp", "lut")]
    if message["msg"] == "delete":
        return [1, DELETE, [key, int(message.get("durable", False)), *version]]
    return [1, WRITE, [key, *version, list(map(_bin, message["bins"]))]]


def legacy(message: Json) -> bytes:
    """Return what connectors before 4.0.0 sent: 0 in place of nil, deletes of two parts."""
    version, kind, payload = parts(message)
    if kind == DELETE:
        return pack([version, kind, payload[:2]])
    key, *numbers, bins = payload
    return pack([version, kind, [key, *(number or 0 for number in numbers), bins]])


def _key(key: list[Any]) -> list[Any]:
    namespace, set_name, digest, user_key = key
    return [namespace, set_name, b64decode(digest), user_key]


def _bin(one: Json) -> list[Any]:
    number, value_of = _TYPES[one["type"]]
    order = _MAP_ORDERS[one.get("order")] + one.get("ordered", False)
    return [one["name"], number, order, value_of(one["value"])]
