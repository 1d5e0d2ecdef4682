"""Messages of MessagePack as JSON text, position by position, and back."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain, repeat
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Struct
from msgspec.msgpack import Ext

from changewire.codec.family import GeneratedFamily, first_of
from changewire.codec.issues import DecodeError, EncodeError, Issue
from changewire.codec.json_parser import parse_json
from changewire.codec.msgpack_values import INTEGERS, hashable, pointer_of
from changewire.codec.places import steps_of
from changewire.codec.wire import Data, too_deep
from changewire_messages.forms import FORMS, exact_form
from changewire_messages.support import Path, insert

RULE: Final = "json-form"

_NON_FINITE: Final[Mapping[Any, float]] = {
    name: float(name) for name in ("NaN", "Infinity", "-Infinity")
}
_EXT_CODES: Final = range(-128, 128)
_PAIR: Final = 2
_MOST_NAMES: Final = max(map(len, FORMS))


class FormError(Exception):
    """JSON represents no value of MessagePack."""

    def __init__(self, code: str, at: Path, expected: str, actual: object) -> None:
        super().__init__(code)
        self.issue: Issue = Issue(pointer_of(at), code, RULE, expected, actual)


def exact_value(form: Any, at: Path = ()) -> Any:
    """Return the value that a form represents."""
    # Loops, for a comprehension would take a second frame for each level.
    kind = type(form)
    if kind is list:
        items: list[Any] = []
        for i, item in enumerate(form):
            items.append(exact_value(item, (at, i)))
        return items
    if kind is dict:
        names = frozenset(form) if len(form) <= _MOST_NAMES else None
        if names in _READERS:
            return _READERS[names](form, at)
        entries: dict[str, Any] = {}
        for name, item in form.items():
            entries[name] = exact_value(item, (at, name))
        return entries
    if kind is int and form not in INTEGERS:
        raise FormError("out-of-range", at, "an integer of 64 bits", form)
    return form


def base64_bytes(text: Any, at: Path) -> bytes:
    """Return the bytes that Base64 text represents, or raise `FormError`."""
    if type(text) is not str:
        raise FormError("wrong-type", at, "Base64 text", text)
    try:
        return msgspec.convert(text, bytes)
    except (msgspec.ValidationError, UnicodeError):
        raise FormError("invalid-base64", at, "Base64 text", text) from None


def _bytes(form: dict[str, Any], at: Path) -> bytes:
    return base64_bytes(form["bytes"], (at, "bytes"))


def _ext(form: dict[str, Any], at: Path) -> Ext:
    code = form["ext"]
    if type(code) is not int:
        raise FormError("wrong-type", (at, "ext"), "integer", code)
    if code not in _EXT_CODES:
        raise FormError("out-of-range", (at, "ext"), "a code from -128 to 127", code)
    return Ext(code, base64_bytes(form["data"], (at, "data")))


def _float(form: dict[str, Any], at: Path) -> float:
    text = form["float"]
    if type(text) is not str or text not in _NON_FINITE:
        raise FormError("wrong-value", (at, "float"), f"one of {', '.join(_NON_FINITE)}", text)
    return _NON_FINITE[text]


def _map(form: dict[str, Any], at: Path) -> dict[Any, Any]:
    place, pairs = (at, "map"), form["map"]
    if type(pairs) is not list:
        raise FormError("wrong-type", place, "an array of [key, value] pairs", pairs)
    entries: dict[Any, Any] = {}
    for i, pair in enumerate(pairs):
        if type(pair) is not list or len(pair) != _PAIR:
            raise FormError("wrong-type", (place, i), "a pair of key and value", pair)
        key = _key(pair[0], ((place, i), 0), entries)
        entries[key] = exact_value(pair[1], ((place, i), 1))
    return entries


def _key(form: Any, at: Path, entries: dict[Any, Any]) -> Any:
    try:
        key = hashable(exact_value(form, at))
    except TypeError:
        raise FormError("wrong-type", at, "a key without a map in it", form) from None
    if key in entries:
        raise FormError("duplicate-key", at, "a key that no other entry has", form)
    return key


_READERS: Final[Mapping[Any, Callable[[dict[str, Any], Path], Any]]] = {
    frozenset({"bytes"}): _bytes,
    frozenset({"data", "ext"}): _ext,
    frozenset({"float"}): _float,
    frozenset({"map"}): _map,
}
"""Values that objects of these properties, those of `FORMS`, represent."""


_RULE: Final = "json"


def json_text(model: object, format: str) -> bytes:
    """Return a message, a key, or a list of either, as JSON text."""
    try:
        return msgspec.json.encode(_form(model))
    except RecursionError:
        issue = too_deep(_RULE)
    except (LookupError, TypeError, ValueError, OverflowError):
        issue = Issue("", "not-encodable", _RULE, "a model of a message", model)
    raise EncodeError(format, [issue])


def message_of_json(text: Data, family: GeneratedFamily, *, is_key: bool) -> Any:
    """Return the parsed message, key, or list of keys, that `json_text` wrote."""
    form = parse_json(text, family.format, msgspec.json.decode)
    try:
        obj = exact_value(form)
        key = "key_batch" if is_key and family.is_key_batch(obj) else "key"
        return _with_bytes(obj, family.types[key] if is_key else family.arm_of(obj), ())
    except FormError as error:
        issue = error.issue
    except RecursionError:
        issue = too_deep(_RULE)
    raise DecodeError(family.format, [issue])


def _form(value: Any) -> Any:
    """Return models as arrays; bytes in them that can be nothing else are left to the encoder."""
    if isinstance(value, Struct):
        kind: Any = type(value)
        items = [getattr(value, name) for name in steps_of(kind)]
        form = [
            item if of is bytes else _form(item)
            for item, of in zip(items, _kinds(kind), strict=True)
        ]
        for pointer, item in (getattr(value, "extra", UNSET) or {}).items():
            insert(form, pointer, exact_form(item))
        return form
    if type(value) is list and isinstance(first_of(value), Struct):
        return list(map(_form, value))
    return exact_form(value)


def _with_bytes(obj: Any, kind: Any, at: Path) -> Any:
    """Return a parsed message with bytes where only bytes can be, instead of their text."""
    if kind is bytes:
        return base64_bytes(obj, at) if type(obj) is str else obj
    kinds = _item_kinds(kind)
    if kinds is None or type(obj) is not list:
        return obj
    items = zip(obj, kinds, strict=False)
    return [_with_bytes(item, of, (at, i)) for i, (item, of) in enumerate(items)]


def _item_kinds(kind: Any) -> Iterable[Any] | None:
    """Return the types of the items of an array, endlessly; None if they are unknown."""
    if get_origin(kind) is list:
        return repeat(*get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Struct):
        return chain(_kinds(kind), repeat(None))  # an array that is too long is rejected later
    return None


@cache
def _kinds(model: type[Struct]) -> list[Any]:
    """Return the type of each position of a model, without its bounds."""
    hints = get_type_hints(model)
    return [hints[name] for name in steps_of(model)]
