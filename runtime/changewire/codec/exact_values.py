"""JSON to values of MessagePack: the way back from `changewire_messages.forms.exact_form`."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec.msgpack import Ext

from changewire.codec.issues import Issue
from changewire.codec.msgpack_values import INTEGERS, hashable, key_token
from changewire_messages.forms import FORMS
from changewire_messages.support import Path

RULE: Final = "json-form"

_NON_FINITE: Final[Mapping[Any, float]] = {
    name: float(name) for name in ("NaN", "Infinity", "-Infinity")
}
_EXT_CODES: Final = range(-128, 128)
_PAIR: Final = 2
_MOST_NAMES: Final = max(map(len, FORMS))


class FormError(Exception):
    """JSON stands for no value of MessagePack.

    Attributes:
        issue: What is wrong, and where in the JSON.
    """

    def __init__(self, code: str, at: Path, expected: str, actual: object) -> None:
        """Make the issue."""
        super().__init__(code)
        self.issue = Issue(_pointer(at), code, RULE, expected, actual)


def exact_value(form: Any, at: Path = ()) -> Any:
    """Return the value that a form stands for.

    Args:
        form: Parsed JSON.
        at: Where it stands.

    Raises:
        FormError: It stands for none.
        RecursionError: It is nested too deep.
    """
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
    """Return the bytes that Base64 text stands for.

    Raises:
        FormError: It is none.
    """
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


def _pointer(at: Path) -> str:
    return f"{_pointer(at[0])}/{key_token(at[1])}" if at else ""


_READERS: Final[Mapping[Any, Callable[[dict[str, Any], Path], Any]]] = {
    frozenset({"bytes"}): _bytes,
    frozenset({"data", "ext"}): _ext,
    frozenset({"float"}): _float,
    frozenset({"map"}): _map,
}
"""What objects of these properties, those of `FORMS`, stand for."""
