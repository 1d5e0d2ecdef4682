"""Values of MessagePack as JSON from which they can be recovered."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import msgspec

FORMS = frozenset(map(frozenset, [("bytes",), ("data", "ext"), ("float",), ("map",)]))
"""Names of the properties of the objects that represent what JSON lacks."""

_write = msgspec.json.Encoder().encode


def exact_form(value: Any) -> Any:
    """Return a value as one that JSON has, and that no other value becomes.

    What JSON has stays as it is. Bytes become ``{"bytes": Base64 text}``, an extension type
    ``{"ext": code, "data": Base64 text}``, NaN and the infinities ``{"float": text}``; a map
    becomes ``{"map": [[key, value], ...]}`` if a key is not text, or if it would look like
    one of these objects. The Base64 text is left to the encoder (RFC 4648, section 4).

    Neither this nor the encoder recurses deep for a value: inner levels are JSON text already.
    """
    return value if has_own_form(value) else _form(value)


def has_own_form(value: Any) -> bool:
    """Return, without looking deep, whether a value stays as it is; False if it may not."""
    kind = type(value)
    if kind is list:
        return _SAME.issuperset(map(type, value))
    if kind is dict:
        return _SAME.issuperset(map(type, value.values())) and _is_object(value)
    return kind in _SAME or (kind is float and isfinite(value))


_SAME = frozenset({str, int, bool, type(None)})

_NAMES = frozenset({str})

_MOST_NAMES = max(map(len, FORMS))


def _is_object(value: Any) -> bool:
    """Return whether a map is an object of JSON, and not the form of something else."""
    if not _NAMES.issuperset(map(type, value)):
        return False
    return len(value) > _MOST_NAMES or frozenset(value) not in FORMS


def _form(value: object) -> object:
    root: list[Any] = [value]
    todo: list[tuple[Any, Any, int]] = [(root, 0, 0)]
    deep: list[tuple[Any, Any]] = []
    while todo:
        holder, step, depth = todo.pop()
        holder[step], parts = _outer_form(holder[step])
        if depth % _DEEP == _DEEP - 1:
            deep.append((holder, step))
        todo += [(part, i, depth + 1) for part, i in parts if not has_own_form(part[i])]
    for holder, step in reversed(deep):
        holder[step] = msgspec.Raw(_write(holder[step]))
    return root[0]


def _outer_form(value: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """Return the form of a value but for its items, and the place of these: (holder, step)."""
    if isinstance(value, dict):
        if _is_object(value):
            named = dict(value)
            return named, [(named, key) for key in named]
        pairs = [[key, item] for key, item in value.items()]
        return {"map": pairs}, [(pair, i) for pair in pairs for i in (0, 1)]
    form = _scalar_form(value)  # first, for the extensions of msgpack are tuples
    if form is value and isinstance(value, (list, tuple)):
        items = list(value)
        return items, [(items, i) for i in range(len(items))]
    return form, []


def _scalar_form(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": value}
    if isinstance(value, float):
        return value if isfinite(value) else {"float": _NON_FINITE.get(value, "NaN")}
    if hasattr(value, "code") and hasattr(value, "data"):  # an extension, of whichever parser
        return {"ext": value.code, "data": value.data}
    return value


_DEEP = 64
"""After how many levels of nesting the inner ones become text first: the encoder recurses."""

_NON_FINITE = {inf: "Infinity", -inf: "-Infinity"}
