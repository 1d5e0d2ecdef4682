"""Bins of Aerospike and values in them, between JSON and MessagePack: one table, read both ways."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.msgpack import Ext

from changewire.changes.aerospike_particles import LIST_ORDERS, MAP_ORDERS, geojson
from changewire.codec import ExtKey, json_form
from changewire.codec.msgpack_values import INTEGERS
from changewire.codec.places import place_in
from changewire.convert.report import Report
from changewire_messages import aerospike_json, aerospike_msgpack
from changewire_messages.aerospike_msgpack import values as wire
from changewire_messages.support import Path

_Carry = Callable[[Any, Path, Report], Any]


def _as_it_is(value: Any, _at: Path, _report: Report) -> Any:
    return value


def _float_to_json(value: float, _at: Path, _report: Report) -> Any:
    return json_form(value)  # a float bin has NaN and the infinities as text, which is no loss


def _float_to_msgpack(value: float | str, _at: Path, _report: Report) -> float:
    return float(value)


def _geojson_to_json(text: str, at: Path, report: Report) -> Any:
    found = geojson(text, text)
    if isinstance(found, dict):
        return found
    report.lose("geojson", at, text)
    return text


def _geojson_to_msgpack(value: Any, _at: Path, _report: Report) -> str:
    return msgspec.json.encode(value).decode()


def value_to_json(value: Any, at: Path, report: Report) -> Any:
    """Return a value as in JSON; what that loses is noted."""
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
                report.refuse("duplicate-key", place, "a key whose text no other key has", key)
            entries[text] = value_to_json(item, place, report)
        return entries
    return _scalar_to_json(value, at, report)


def value_to_msgpack(value: Any, at: Path, report: Report) -> Any:
    """Return a value of JSON, which MessagePack has as it is, save integers beyond 64 bits."""
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
    """Return a number as in JSON outside float bins: NaN and the infinities are text."""
    if not isfinite(value):
        report.lose("non-finite", at, value)
    return json_form(value)  # type: ignore[no-any-return]


def _scalar_to_json(value: Any, at: Path, report: Report) -> Any:
    kind = type(value)
    if (
        kind is Ext
        and value.code == wire.GEOJSON_BIN
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


class _Form(NamedTuple):
    """What a particle type is in JSON."""

    model: type[Any]
    to_json: _Carry = _as_it_is
    to_msgpack: _Carry = _as_it_is
    property: str | None = None
    flags: Mapping[int, Any] = {0: UNSET}
    is_exact: bool = True


_FORMS: Final[Mapping[int, _Form]] = {
    wire.INTEGER_BIN: _Form(aerospike_json.IntBin),
    wire.DOUBLE_BIN: _Form(aerospike_json.FloatBin, _float_to_json, _float_to_msgpack),
    wire.STRING_BIN: _Form(aerospike_json.StrBin),
    wire.BLOB_BIN: _Form(aerospike_json.BlobBin),
    **dict.fromkeys(
        (wire.JAVA_BIN, *wire.LANGUAGE_BIN, wire.HLL_BIN),
        _Form(aerospike_json.BlobBin, is_exact=False),
    ),
    wire.BOOLEAN_BIN: _Form(aerospike_json.BoolBin),
    wire.MAP_BIN: _Form(
        aerospike_json.MapBin,
        value_to_json,
        value_to_msgpack,
        "order",
        {wire.UNORDERED: UNSET, **MAP_ORDERS},
    ),
    wire.LIST_BIN: _Form(
        aerospike_json.ListBin, value_to_json, value_to_msgpack, "ordered", LIST_ORDERS
    ),
    wire.GEOJSON_BIN: _Form(aerospike_json.GeojsonBin, _geojson_to_json, _geojson_to_msgpack),
}
"""Particle types that JSON has a word for, or that are bytes there."""

_PARTICLES: Final[Mapping[type, int]] = {
    form.model: particle for particle, form in _FORMS.items() if form.is_exact
}
"""Particle type of each bin of the JSON format."""


def bins_to_json(bins: list[Any], at: Path, report: Report) -> list[Any]:
    """Return the bins of a MessagePack write as those of a JSON write."""
    return [_bin_to_json(item, (at, i), report) for i, item in enumerate(bins)]


def bins_to_msgpack(bins: list[Any], at: Path, report: Report) -> list[Any]:
    """Return the bins of a JSON write as those of a MessagePack write, but for those rejected."""
    found = [_bin_to_msgpack(item, (at, i), report) for i, item in enumerate(bins)]
    return [item for item in found if item is not None]


def _bin_to_json(item: aerospike_msgpack.Bin, at: Path, report: Report) -> Any:
    form = _FORMS.get(item.type)
    if form is None:
        place = place_in(item, "type", at=at)
        report.refuse("not-encodable", place, "a particle type that JSON has", item.type)
        return None
    if not form.is_exact:
        report.lose("particle-type", place_in(item, "type", at=at), item.type)
    if item.flags not in form.flags:
        report.lose("flags", place_in(item, "flags", at=at), item.flags)
    value = form.to_json(item.value, place_in(item, "value", at=at), report)
    words = {form.property: form.flags.get(item.flags, UNSET)} if form.property else {}
    is_text = item.type == wire.GEOJSON_BIN and isinstance(value, str)
    model: type[Any] = aerospike_json.StrBin if is_text else form.model
    return model(name=item.name, value=value, **words)


def _bin_to_msgpack(item: Any, at: Path, report: Report) -> Any:
    particle = _PARTICLES.get(type(item))
    if particle is None:
        report.refuse("not-encodable", (at, "type"), "a type that MessagePack has", str(item.type))
        return None
    form, flags = _FORMS[particle], 0
    if form.property:
        # An absent property says what no flags say.
        number_of = {word: number for number, word in form.flags.items()}
        flags = number_of.get(getattr(item, form.property), 0)
    value = form.to_msgpack(item.value, (at, "value"), report)
    return aerospike_msgpack.Bin(item.name, particle, flags, value)
