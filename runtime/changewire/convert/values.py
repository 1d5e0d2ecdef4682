"""Values in lists and maps of Aerospike, from MessagePack to JSON; back, they stay as they are."""

from math import isfinite
from typing import Any

import msgspec
from msgspec.msgpack import Ext

from changewire.changes.particles import GEOJSON, geojson
from changewire.codec import ExtKey, json_form
from changewire.codec.msgpack_values import INTEGERS
from changewire.convert.report import Report
from changewire_messages.support import Path


def value_to_json(value: Any, at: Path, report: Report) -> Any:
    """Return a value as JSON has it; what that loses is noted.

    Bytes, and extension types other than GeoJSON, become Base64 text, as the connector writes them
    in JSON (``Transformer.java`` of Aerospike's outbound SDK); NaN and the infinities become text.

    Raises:
        RecursionError: It is nested too deep.
    """
    # Loops, for a comprehension would take a second frame for each level.
    if type(value) is list:
        items: list[Any] = []
        for i, item in enumerate(value):
            items.append(value_to_json(item, (at, i), report))
        return items
    if type(value) is dict:
        entries: dict[str, Any] = {}
        for key, item in value.items():
            place = (at, key)
            text = _key_text(key, place, report)
            if text in entries:
                report.refuse("duplicate-key", place, "a key that as text is no other's", key)
            entries[text] = value_to_json(item, place, report)
        return entries
    return _scalar_to_json(value, at, report)


def value_to_msgpack(value: Any, at: Path, report: Report) -> Any:
    """Return a value of JSON, which MessagePack has as it is, save integers beyond 64 bits.

    Raises:
        RecursionError: It is nested too deep.
    """
    if type(value) is int and value not in INTEGERS:
        report.refuse("not-encodable", at, "an integer of 64 bits", value)
    if type(value) is list:
        for i, item in enumerate(value):
            value_to_msgpack(item, (at, i), report)
    if type(value) is dict:
        for name, item in value.items():
            value_to_msgpack(item, (at, name), report)
    return value


def float_to_json(value: float, at: Path, report: Report) -> float | str:
    """Return a number as JSON has it outside float bins: NaN and the infinities are text."""
    if not isfinite(value):
        report.lose("non-finite", at, value)
    return json_form(value)  # type: ignore[no-any-return]


def _scalar_to_json(value: Any, at: Path, report: Report) -> Any:
    kind = type(value)
    if (
        kind is Ext
        and value.code == GEOJSON
        and isinstance(found := geojson(value.data, None), dict)
    ):
        return found
    if kind is float:
        return float_to_json(value, at, report)
    if kind is Ext:
        report.lose("ext", at, value)
        return json_form(bytes(value.data))
    if kind is bytes:
        report.lose("bytes", at, value)
    return json_form(value)


def _key_text(key: Any, at: Path, report: Report) -> str:
    """Return the key of a map as text: bytes as Base64, all else as JSON writes it."""
    if type(key) is str:
        return key
    report.lose("map-key", at, key)
    form = json_form(key.data if isinstance(key, ExtKey) else key)
    return form if isinstance(form, str) else msgspec.json.encode(form).decode()
