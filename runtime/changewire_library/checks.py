"""Checks of parsed values, of which generated validators consist."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

import msgspec

from changewire_library.support import (
    INT64_MAX,
    INT64_MIN,
    Issue,
    as_binary64,
    bytes_length,
    pointer_token,
)

Rule: TypeAlias = tuple[str, str]
"""Keyword of the schema that is broken, and what it asks for."""

Broken: TypeAlias = Iterator[Rule]

_LARGEST = sys.float_info.max
_HOUR = r"(?:[01]\d|2[0-3])"
_CLOCK = rf"{_HOUR}:[0-5]\d:[0-5]\d(?:\.\d{{1,6}}0*)?"
_DATETIME = re.compile(rf"\d{{4}}-\d\d-\d\d[Tt]{_CLOCK}(?:[Zz]|[+-]{_HOUR}:[0-5]\d)\Z", re.ASCII)

DATETIME_WORDS = "a date and time with offset (RFC 3339), at most microseconds"
"""What text must be that represents a time."""

_KINDS: Mapping[str, tuple[type, ...]] = {
    "Base64 text": (str,),
    "boolean": (bool,),
    "bytes": (bytes,),
    "date-time text": (str,),
    "float": (float,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "string": (str,),
}
"""Types of parsed scalars, by the words for them."""

_CHECKED: Mapping[str, type] = {"Base64 text": str, "date-time text": str, "integer": int}
"""The type of which only some values fit, by the word for it."""


def time_of(text: str) -> datetime | None:
    """Return the time, in UTC, of a date and time with an offset (RFC 3339); None for other text.

    Leap seconds, fractions of microseconds and times outside the years 1 to 9999 have no time.
    """
    try:
        if _DATETIME.match(text):
            return msgspec.convert(text, datetime).astimezone(timezone.utc)
    except (msgspec.ValidationError, OverflowError):
        pass
    return None


@cache
def _types(kinds: str) -> frozenset[type]:
    """Return the types of a scalar, by the words for them."""
    return frozenset(kind for word in kinds.split(" or ") for kind in _KINDS[word])


@cache
def _unchecked(kinds: str) -> frozenset[type]:
    """Return those types of a scalar of which every value fits."""
    return _types(kinds) - {_CHECKED[word] for word in kinds.split(" or ") if word in _CHECKED}


def required(obj: Any, name: str, kinds: str, at: str, out: list[Issue], **more: Any) -> None:
    """Check a property that must be there; `scalar` says by what."""
    if name not in obj:
        out.append((f"{at}/{pointer_token(name)}", "required", kinds, msgspec.UNSET))
    elif more or type(obj[name]) not in _unchecked(kinds):
        scalar(obj[name], kinds, f"{at}/{pointer_token(name)}", out, **more)


def optional(obj: Any, name: str, kinds: str, at: str, out: list[Issue], **more: Any) -> None:
    """Check a property that may be absent; `scalar` says by what."""
    if name in obj and (more or type(obj[name]) not in _unchecked(kinds)):
        scalar(obj[name], kinds, f"{at}/{pointer_token(name)}", out, **more)


def scalar(value: Any, kinds: str, at: str, out: list[Issue], **rules: Any) -> None:
    """Check the type of a scalar, and its value.

    Args:
        value: As it was parsed.
        kinds: The words for its types, joined by "or".
        at: JSON Pointer to it.
        out: Gets the issues.
        **rules: What is asked of values of each type: ``among`` and ``none_of`` list them,
            ``least`` and ``most`` are the bounds of integers, and of other numbers if there are no
            integers, else these have ``low`` and ``high``; ``length`` is that of text, ``size``
            that of bytes, and ``pattern`` what text matches. With ``exact`` numbers may be
            decimals.
    """
    words, kind = kinds.split(" or "), type(value)
    among = rules.get("among", ())
    is_decimal = kind is Decimal and "exact" in rules
    if not is_decimal and kind not in _types(kinds):
        broken: Iterable[Rule] = [("type", kinds)]
    elif among and kind is type(among[0]):
        broken = _not_among(value, among)
    elif kind in {int, float, Decimal}:
        broken = _bad_number(value, words, rules)
    elif kind is bytes:
        broken = _bad_size(len(value), rules)
    elif kind is str:
        broken = _bad_text(value, words, rules)
    else:
        return
    out.extend((at, rule, expected, value) for rule, expected in broken)


def is_scalar(value: Any, kinds: str, **rules: Any) -> bool:
    """Return whether `scalar` finds no issue."""
    out: list[Issue] = []
    scalar(value, kinds, "", out, **rules)
    return not out


def _not_among(value: object, among: tuple[Any, ...]) -> Broken:
    if value not in among:
        texts = ", ".join(map(str, among))
        yield ("const", texts) if len(among) == 1 else ("enum", f"one of {texts}")


def _bad_number(value: Any, words: list[str], rules: Mapping[str, Any]) -> Broken:
    is_integer = type(value) is int and "integer" in words
    is_own = is_integer or "integer" not in words
    low, high = (rules.get(end) for end in (("least", "most") if is_own else ("low", "high")))
    if "exact" in rules and not is_integer:
        value = as_binary64(value)
        low, high = (-_LARGEST if low is None else low), (_LARGEST if high is None else high)
    if low is not None and not value >= low:  # NaN is neither
        yield "minimum", f"at least {low}"
    elif high is not None and not value <= high:
        yield "maximum", f"at most {high}"
    elif is_integer and not INT64_MIN <= value <= INT64_MAX:
        is_low = value < 0
        yield (
            ("minimum", f"at least {INT64_MIN}") if is_low else ("maximum", f"at most {INT64_MAX}")
        )
    if is_integer and value in rules.get("none_of", ()):
        yield "not", f"none of {', '.join(map(str, rules['none_of']))}"


def _bad_text(value: str, words: list[str], rules: Mapping[str, Any]) -> Broken:
    if "Base64 text" in words:
        size = bytes_length(value)
        if size >= 0:
            yield from _bad_size(size, rules)
        else:
            yield "contentEncoding", "Base64 text (RFC 4648, section 4)"
        return
    if "date-time text" in words:
        if time_of(value) is None:
            yield "format", DATETIME_WORDS
        return
    low, high = rules.get("length", (None, None))
    if low is not None and len(value) < low:
        yield "minLength", f"at least {low} characters"
    elif high is not None and len(value) > high:
        yield "maxLength", f"at most {high} characters"
    # The end of the text is meant, and not a newline before it.
    pattern = rules.get("pattern")
    if pattern is not None and not re.search(f"{pattern[:-1]}\\Z", value):
        yield "pattern", f"text that matches {pattern}"


def _bad_size(size: int, rules: Mapping[str, Any]) -> Broken:
    low, high = rules.get("size", (None, None))
    if low is not None and low == high and size != low:
        yield "x-minBytes", f"{low} bytes"
    elif low is not None and size < low:
        yield "x-minBytes", f"at least {low} bytes"
    elif high is not None and size > high:
        yield "x-maxBytes", f"at most {high} bytes"


def has_tag(obj: Any, name: str, known: tuple[str, ...], at: str, out: list[Issue]) -> bool:
    """Return whether an object has one of the known tags; report it if it has not."""
    tag = obj.get(name, msgspec.UNSET)
    if type(tag) is str and tag in known:
        return True
    rule = "required" if tag is msgspec.UNSET else "oneOf"
    out.append((f"{at}/{pointer_token(name)}", rule, f"one of {', '.join(known)}", tag))
    return False


def is_object(value: object, at: str, out: list[Issue]) -> bool:
    """Return whether a value is an object; report it if it is not."""
    if type(value) is dict:
        return True
    out.append((at, "type", "object", value))
    return False


def is_row(value: Any, size: int, at: str, out: list[Issue], *, is_open: bool = False) -> bool:
    """Return whether a value is an array of so many positions; report it if it is not."""
    if type(value) is not list:
        out.append((at, "type", "array", value))
    elif len(value) < size or (len(value) > size and not is_open):
        words = f"at least {size} positions" if is_open else f"{size} positions"
        out.append((at, "prefixItems", words, value))
    else:
        return True
    return False


def check_unknown(obj: Mapping[str, Any], known: Iterable[str], at: str, out: list[Issue]) -> None:
    """Report each property of an object that its schema does not name."""
    rule, expected = "additionalProperties", "no property of this name"
    names = sorted(obj.keys() - set(known))
    out.extend((f"{at}/{pointer_token(name)}", rule, expected, obj[name]) for name in names)


def check_beyond(row: list[Any], known: int, at: str, out: list[Issue]) -> None:
    """Report each position of an array beyond those of its schema."""
    expected = f"no position after {known - 1}"
    out.extend((f"{at}/{i}", "items", expected, row[i]) for i in range(known, len(row)))
