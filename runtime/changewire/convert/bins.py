"""Bins of Aerospike between JSON and MessagePack: one table, read in both directions."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from changewire.changes import particles
from changewire.codec import json_form
from changewire.convert.report import Report
from changewire.convert.values import value_to_json, value_to_msgpack
from changewire_messages import aerospike_json, aerospike_msgpack
from changewire_messages.support import Path

_Carry = Callable[[Any, Path, Report], Any]


def _as_it_is(value: Any, _at: Path, _report: Report) -> Any:
    return value


def _float_to_json(value: float, _at: Path, _report: Report) -> Any:
    return json_form(value)  # a float bin has NaN and the infinities as text, which is no loss


def _float_to_msgpack(value: float | str, _at: Path, _report: Report) -> float:
    return float(value)


def _geojson_to_json(text: str, at: Path, report: Report) -> Any:
    found = particles.geojson(text, text)
    if isinstance(found, dict):
        return found
    report.lose("geojson", at, text)
    return text


def _geojson_to_msgpack(value: Any, _at: Path, _report: Report) -> str:
    return msgspec.json.encode(value).decode()


class _Form(NamedTuple):
    """What a particle type is in JSON.

    Attributes:
        model: Bin of the JSON format.
        to_json: From the value in MessagePack to that in JSON.
        to_msgpack: Back.
        property: Property of the JSON bin that says what the flags say; None if there is none.
        flags: Flags that JSON has words for, with these words.
        is_exact: Whether the type comes back from JSON.
    """

    model: type[Any]
    to_json: _Carry = _as_it_is
    to_msgpack: _Carry = _as_it_is
    property: str | None = None
    flags: Mapping[int, Any] = {0: UNSET}
    is_exact: bool = True


_FORMS: Final[Mapping[int, _Form]] = {
    particles.INTEGER: _Form(aerospike_json.IntBin),
    particles.DOUBLE: _Form(aerospike_json.FloatBin, _float_to_json, _float_to_msgpack),
    particles.STRING: _Form(aerospike_json.StrBin),
    particles.BLOB: _Form(aerospike_json.BlobBin),
    **dict.fromkeys(
        (*particles.BLOBS_OF_CLIENTS, particles.HYPERLOGLOG),
        _Form(aerospike_json.BlobBin, is_exact=False),
    ),
    particles.BOOLEAN: _Form(aerospike_json.BoolBin),
    particles.MAP: _Form(
        aerospike_json.MapBin,
        value_to_json,
        value_to_msgpack,
        "order",
        {0: UNSET, **particles.MAP_ORDERS},
    ),
    particles.LIST: _Form(
        aerospike_json.ListBin, value_to_json, value_to_msgpack, "ordered", {0: False, 1: True}
    ),
    particles.GEOJSON: _Form(aerospike_json.GeojsonBin, _geojson_to_json, _geojson_to_msgpack),
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
    """Return the bins of a JSON write as those of a MessagePack write, but for those refused."""
    found = [_bin_to_msgpack(item, (at, i), report) for i, item in enumerate(bins)]
    return [item for item in found if item is not None]


def _bin_to_json(item: aerospike_msgpack.Bin, at: Path, report: Report) -> Any:
    form = _FORMS.get(item.type)
    if form is None:
        report.refuse("not-encodable", (at, 1), "a particle type that JSON has", item.type)
        return None
    if not form.is_exact:
        report.lose("particle-type", (at, 1), item.type)
    if item.flags not in form.flags:
        report.lose("flags", (at, 2), item.flags)
    value = form.to_json(item.value, (at, 3), report)
    words = {form.property: form.flags.get(item.flags, UNSET)} if form.property else {}
    is_text = item.type == particles.GEOJSON and isinstance(value, str)
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
