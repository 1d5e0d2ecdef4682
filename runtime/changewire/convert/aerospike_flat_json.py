"""Messages and keys of Aerospike between JSON and flat JSON, which has no types of bins."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET

from changewire.changes.aerospike_flat_json import key_of
from changewire.codec import json_form
from changewire.codec.places import place_in
from changewire.convert.report import Report, lose_unknown
from changewire_messages import aerospike_flat_json as flat
from changewire_messages import aerospike_json
from changewire_messages.support import INT64_MAX, INT64_MIN, Path

_TYPES: Final[Mapping[type, type[Any]]] = {
    bool: aerospike_json.BoolBin,
    dict: aerospike_json.MapBin,
    float: aerospike_json.FloatBin,
    int: aerospike_json.IntBin,
    list: aerospike_json.ListBin,
    str: aerospike_json.StrBin,
}
"""The type of bin of a value of flat JSON; null has none."""

_ORDERS: Final[Mapping[Any, str]] = {
    aerospike_json.ListBin: "ordered",
    aerospike_json.MapBin: "order",
}

_NAME: Final = flat.FLAT["Message"][0]


def to_flat(model: Any, at: Path, report: Report) -> Any:
    """Return a message or a key of the JSON format as one of flat JSON.

    What is null there is absent here: both say that the server did not ship it.
    """
    if isinstance(model, aerospike_json.Key):
        return flat.Key(**_known(_parts(model)))
    lose_unknown(model, at, report)
    given = {**_parts(model.key), "gen": model.gen, "exp": model.exp, "lut": model.lut}
    if isinstance(model, aerospike_json.Delete):
        metadata: Any = flat.Delete(**_known({**given, "durable": model.durable}))
        return flat.Message(metadata=metadata, bins={})
    bins: dict[str, Any] = {}
    for i, item in enumerate(model.bins):
        place = ((at, "bins"), i)
        if item.name == _NAME or item.name in bins:
            expected = f"a name of its own, which is not {_NAME}"
            report.refuse("duplicate-key", place_in(item, "name", at=place), expected, item.name)
        bins[item.name] = _value(item, place, report)
    return flat.Message(metadata=flat.Write(**_known(given)), bins=bins)


def _parts(key: aerospike_json.Key) -> dict[str, Any]:
    return {
        "namespace": key.namespace,
        "set": key.set,
        "digest": key.digest,
        "user_key": key.user_key,
    }


def _known(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is neither null nor absent."""
    return {name: value for name, value in parts.items() if value not in (None, UNSET)}


def _value(item: Any, at: Path, report: Report) -> Any:
    """Return the value of a bin; note the properties of the bin that it hides."""
    kind: Any = type(item)
    if _TYPES.get(type(item.value)) is not kind:
        report.lose("bin-type", (at, "type"), str(item.type))
    elif (order := _ORDERS.get(kind)) and getattr(item, order):
        report.lose("order", place_in(item, order, at=at), getattr(item, order))
    return json_form(item.value)


def from_flat(model: Any, at: Path, report: Report) -> Any:
    """Return a message or a key of flat JSON as one of the JSON format.

    The type of a bin is that of its value: text that represents bytes becomes a `StrBin`.
    """
    if isinstance(model, flat.Key):
        lose_unknown(model, at, report)
        return key_of(model)
    lose_unknown(model, at, report)
    metadata = model.metadata
    times: dict[str, Any] = {"gen": metadata.gen, "exp": metadata.exp, "lut": metadata.lut}
    if isinstance(metadata, flat.Delete):
        for name, value in model.bins.items():
            report.lose("unknown-property", (at, name), value)
        return aerospike_json.Delete(key=key_of(metadata), durable=metadata.durable, **times)
    shipped: dict[str, Any] = {n: None if value is UNSET else value for n, value in times.items()}
    bins = [_bin(name, value, (at, name), report) for name, value in model.bins.items()]
    return aerospike_json.Write(key=key_of(metadata), bins=bins, **shipped)


def _bin(name: str, value: Any, at: Path, report: Report) -> Any:
    kind: Any = _TYPES.get(type(value))
    if kind is None or (type(value) is int and not INT64_MIN <= value <= INT64_MAX):
        expected = "an integer of 64 bits" if kind else "a value that is not null"
        report.refuse("not-encodable", at, expected, value)
        return None
    return kind(name=name, value=value)


CONVERSIONS: Final[Mapping[tuple[str, str], Callable[[Any, Path, Report], Any]]] = {
    (aerospike_json.FORMAT, flat.FORMAT): to_flat,
    (flat.FORMAT, aerospike_json.FORMAT): from_flat,
}
"""Pairs of source and target, with what makes a model of the one a model of the other."""
