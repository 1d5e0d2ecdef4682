"""Messages and keys of Aerospike between JSON and MessagePack."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET

from changewire.codec import Issue, json_form
from changewire.codec.msgpack_values import pointer_of
from changewire.codec.places import place_in
from changewire.convert.aerospike_bins import bins_to_json, bins_to_msgpack, float_to_json
from changewire.convert.report import Report, lose_unknown
from changewire_messages import aerospike_json, aerospike_msgpack
from changewire_messages.aerospike_msgpack.values import DURABLE
from changewire_messages.support import Path


def to_json(model: Any, at: Path, report: Report) -> Any:
    """Return a message or a key of the MessagePack format as one of the JSON format."""
    return _mapped(_TO_JSON, model, at, report)


def to_msgpack(model: Any, at: Path, report: Report) -> Any:
    """Return a message or a key of the JSON format as one of MessagePack, in its current version.

    Where `gen`, `exp` and `lut` are absent they become nil: both say that the server did not ship
    them.
    """
    return _mapped(_TO_MSGPACK, model, at, report)


def _mapped(table: Mapping[type, "_Convert"], model: Any, at: Path, report: Report) -> Any:
    mapping = table.get(type(model))
    if mapping is not None:
        return mapping(model, at, report)
    report.refuse("not-encodable", at, "a message that both formats have", UNSET)
    return None


def _key_to_json(key: aerospike_msgpack.Key, at: Path, report: Report) -> aerospike_json.Key:
    user_key, place = key.user_key, place_in(key, "user_key", at=at)
    if isinstance(user_key, float):
        user_key = float_to_json(user_key, place, report)
    elif isinstance(user_key, bytes):
        report.lose("user-key", place, user_key)
        user_key = json_form(user_key)
    return aerospike_json.Key(key.namespace, key.set, key.digest, user_key)


def _write_to_json(model: Any, at: Path, report: Report) -> aerospike_json.Write:
    lose_unknown(model, at, report)
    row = model.payload
    key = _key_to_json(row.key, place_in(model, "payload", "key", at=at), report)
    bins = bins_to_json(row.bins, place_in(model, "payload", "bins", at=at), report)
    return aerospike_json.Write(key=key, gen=row.gen, exp=row.exp, lut=row.lut, bins=bins)


def _delete_to_json(model: Any, at: Path, report: Report) -> aerospike_json.Delete:
    lose_unknown(model, at, report)
    row = model.payload
    if row.flags & ~DURABLE:
        report.lose("flags", place_in(model, "payload", "flags", at=at), row.flags)
    times: dict[str, Any] = {}
    if isinstance(model, aerospike_msgpack.Delete):
        times = {"gen": row.gen, "exp": row.exp, "lut": row.lut}
    key = _key_to_json(row.key, place_in(model, "payload", "key", at=at), report)
    return aerospike_json.Delete(key=key, durable=bool(row.flags & DURABLE), **times)


def _key_to_msgpack(key: aerospike_json.Key, _at: Path, _report: Report) -> aerospike_msgpack.Key:
    return aerospike_msgpack.Key(key.namespace, key.set, key.digest, key.user_key)


def _write_to_msgpack(model: Any, at: Path, report: Report) -> aerospike_msgpack.Write:
    lose_unknown(model, at, report)
    key = _key_to_msgpack(model.key, at, report)
    bins = bins_to_msgpack(model.bins, (at, "bins"), report)
    gen, exp, lut = _times(model)
    row = aerospike_msgpack.WritePayload(key, gen, exp, lut, bins)
    return aerospike_msgpack.Write(payload=row)


def _delete_to_msgpack(model: Any, at: Path, report: Report) -> aerospike_msgpack.Delete:
    lose_unknown(model, at, report)
    if model.durable is UNSET:
        report.lose("durable", (at, "durable"))
    flags = DURABLE if model.durable is True else 0
    key = _key_to_msgpack(model.key, at, report)
    row = aerospike_msgpack.DeletePayload(key, flags, *_times(model))
    return aerospike_msgpack.Delete(payload=row)


def _times(model: Any) -> list[int | None]:
    """Return generation, expiry and time of the last update; None for what is absent."""
    return [None if t is UNSET else t for t in (model.gen, model.exp, model.lut)]


_Convert = Callable[[Any, Path, Report], Any]

_TO_JSON: Final[Mapping[type, _Convert]] = {
    aerospike_msgpack.Key: _key_to_json,
    aerospike_msgpack.Write: _write_to_json,
    aerospike_msgpack.Delete: _delete_to_json,
    aerospike_msgpack.LegacyDelete: _delete_to_json,
}
_TO_MSGPACK: Final[Mapping[type, _Convert]] = {
    aerospike_json.Key: _key_to_msgpack,
    aerospike_json.Write: _write_to_msgpack,
    aerospike_json.Delete: _delete_to_msgpack,
}
"""For each model what makes it one of the other format."""

CONVERSIONS: Final[Mapping[tuple[str, str], _Convert]] = {
    (aerospike_json.FORMAT, aerospike_msgpack.FORMAT): to_msgpack,
    (aerospike_msgpack.FORMAT, aerospike_json.FORMAT): to_json,
}
"""Pairs of source and target, with what makes a model of the one a model of the other."""

_TIMES: Final = ("gen", "exp", "lut")


def legacy(model: object, at: str, issues: list[Issue]) -> object:
    """Return the legacy form of one model; parts without a place are added to the issues."""
    if isinstance(model, aerospike_msgpack.Write):
        for name in _TIMES:
            if getattr(model.payload, name) is None:
                expected = "a number, or 0 if it is not known"
                issues.append(_issue(at, model, name, expected))
        return model
    if not isinstance(model, aerospike_msgpack.Delete):
        return model
    payload = model.payload
    expected = "null: its deletes have no place for it"
    lost = [name for name in _TIMES if getattr(payload, name) is not None]
    issues += [_issue(at, model, name, expected) for name in lost]
    return aerospike_msgpack.LegacyDelete(
        payload=aerospike_msgpack.LegacyDeletePayload(payload.key, payload.flags),
        extra=model.extra,
    )


def _issue(at: str, model: Any, name: str, expected: str) -> Issue:
    """Return the issue of a field of a message's payload; the message is at a pointer."""
    pointer = at + pointer_of(place_in(model, "payload", name))
    return Issue(pointer, "not-encodable", "legacy", expected, getattr(model.payload, name))


LEGACY: Final[Mapping[str, Callable[[object, str, list[Issue]], object]]] = {
    aerospike_msgpack.FORMAT: legacy,
}
"""Formats with an older version, and what makes a message of it."""
