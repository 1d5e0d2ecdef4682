"""What the Hypothesis strategies of all families share."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timezone
from typing import Any, TypeAlias

import msgspec
from hypothesis import strategies as st

from changewire_library.support import bytes_length

Strategy: TypeAlias = st.SearchStrategy[Any]

NOTHING: Strategy = st.nothing()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
"""Represents the broken values of a type that takes every value."""

INT64 = st.integers(-(2**63), 2**63 - 1)

LONG = 256
"""Characters, bytes or elements beyond which Hypothesis itself draws nothing."""

BEYOND = {"json": (-(2**64), 2**64 - 2), "msgpack": (-(2**63), 2**64 - 1)}
"""Between which bounds integers are drawn that break a bound; MessagePack has no others."""

_PLAIN = st.none() | st.booleans() | INT64


def later(build: Callable[[], Strategy]) -> Strategy:
    """Return a strategy that is built when it first draws: a definition may contain itself."""

    def built() -> Strategy:
        return build()

    return st.deferred(built)  # which takes nothing but a plain function


def json_values() -> Strategy:
    """Draw any JSON value: integers of 64 bits, finite numbers, nested to a small depth."""
    return st.recursive(
        _PLAIN | numbers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=8,
    )


def msgpack_values(*, allow_nan: bool = False) -> Strategy:
    """Draw any MessagePack value: as JSON, with bytes, infinities, extensions and other keys.

    Args:
        allow_nan: Whether a float may be NaN, which equals nothing.
    """
    scalars = _PLAIN | doubles(allow_nan=allow_nan) | st.text() | binaries()
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(map_keys(), inner, max_size=4),
        max_leaves=8,
    )


def binaries() -> Strategy:
    """Draw what MessagePack has and JSON has not: bytes and extensions.

    The code of an extension is from 0 to 127; those below are of MessagePack itself.
    """
    return st.binary() | st.builds(msgspec.msgpack.Ext, st.integers(0, 127), st.binary())


def map_keys() -> Strategy:
    """Draw keys of a map that all differ in Python: integers, text and bytes."""
    return INT64 | st.text() | st.binary()


def doubles(*, allow_nan: bool = False) -> Strategy:
    """Draw binary64 numbers, infinities among them."""
    return st.floats(allow_nan=allow_nan)


def numbers(minimum: float | None = None, maximum: float | None = None) -> Strategy:
    """Draw finite binary64 numbers."""
    return st.floats(minimum, maximum, allow_nan=False, allow_infinity=False)


def scalar(kinds: str, **rules: Any) -> Strategy:
    """Draw scalars of these types, as `support.scalar` checks them."""
    words = kinds.split(" or ")
    return st.one_of([_valid(word, words, rules) for word in words])


def broken_scalar(encoding: str, kinds: str, **rules: Any) -> Strategy:
    """Draw values that `scalar` does not, as far as the encoding has them."""
    words = kinds.split(" or ")
    parts = [not_of(*(_ON_THE_WIRE.get(word, word) for word in words))]
    parts += [part for word in words for part in _invalid(word, words, rules, encoding)]
    return st.one_of([*parts, *([binaries()] if _lacks_bytes(words, encoding) else [])])


_ON_THE_WIRE: Mapping[str, str] = {
    "Base64 text": "string",
    "bytes": "binary",
    "date-time text": "string",
    "float": "double",
}


def _lacks_bytes(words: list[str], encoding: str) -> bool:
    return encoding == "msgpack" and "bytes" not in words


def _is_listed(word: str, among: Sequence[object]) -> bool:
    """Return whether the values of a type are those of a list."""
    return bool(among) and type(among[0]) is {"integer": int, "string": str}.get(word)


def _ends(word: str, words: list[str], rules: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the bounds of numbers of a type, or of a length."""
    if word in {"integer", "number"}:
        names = ("low", "high") if word == "number" and "integer" in words else ("least", "most")
        least, most = (-(2**63), 2**63 - 1) if word == "integer" else (None, None)
        return rules.get(names[0], least), rules.get(names[1], most)
    ends: tuple[Any, Any] = rules.get("length" if word == "string" else "size", (None, None))
    return ends


def _valid(word: str, words: list[str], rules: Mapping[str, Any]) -> Strategy:
    low, high = _ends(word, words, rules)
    if _is_listed(word, rules.get("among", ())):
        return st.sampled_from(rules["among"])
    if word == "integer":
        excluded = rules.get("none_of", ())
        integers = st.integers(math.ceil(low), math.floor(high))
        return integers.filter(lambda value: value not in excluded)
    if word == "string" and "pattern" in rules:
        pattern = f"{rules['pattern'][:-1]}\\Z"
        texts = st.from_regex(pattern, alphabet=st.characters(codec="ascii"))
        least, most = low or 0, math.inf if high is None else high
        return texts.filter(lambda text: least <= len(text) <= most)
    drawn: Mapping[str, Callable[[], Strategy]] = {
        "Base64 text": lambda: base64_texts(low or 0, high),
        "boolean": st.booleans,
        "bytes": lambda: _sized(st.binary, low or 0, high),
        "date-time text": datetime_texts,
        "float": doubles,
        "null": st.none,
        "number": lambda: numbers(low, high),
        "string": lambda: _sized(st.text, low or 0, high),
    }
    return drawn[word]()


def _sized(draw: Callable[..., Strategy], min_size: int, max_size: int | None = None) -> Strategy:
    """Draw text or bytes of so many characters or bytes."""
    if min_size > LONG:
        return repeated(draw(min_size=1, max_size=8), min_size)
    return draw(min_size=min_size, max_size=max_size)


def _invalid(
    word: str, words: list[str], rules: Mapping[str, Any], encoding: str
) -> Iterator[Strategy]:
    """Yield strategies for values of the right type that break another rule."""
    low, high = _ends(word, words, rules)
    among = rules.get("among", ())
    if _is_listed(word, among):
        integers = st.integers() if encoding == "json" else INT64
        drawn = st.text() if word == "string" else integers
        yield drawn.filter(lambda value: value not in among)
    elif word in {"integer", "number"}:
        yield from _outside(encoding, low, high, is_integer=word == "integer")
    elif word == "Base64 text":
        yield not_base64_texts(low or 0, high)
    elif word == "date-time text":
        yield st.just("yesterday")
    elif word in {"bytes", "string"}:
        draw = st.binary if word == "bytes" else st.text
        if low:
            yield draw(max_size=low - 1)
        if high is not None:
            yield _sized(draw, high + 1)
        if word == "string" and "pattern" in rules:
            pattern = re.compile(f"{rules['pattern'][:-1]}\\Z")
            yield st.text().filter(lambda text: not pattern.search(text))


def _outside(encoding: str, low: Any, high: Any, *, is_integer: bool) -> Iterator[Strategy]:
    """Yield numbers below one bound or above the other, as far as the encoding has them."""
    least, most = BEYOND[encoding]
    if is_integer and low > least:
        yield st.integers(least, math.ceil(low) - 1)
    if is_integer:
        yield st.integers(math.floor(high) + 1, most)
    if not is_integer and low is not None:
        yield st.floats(max_value=low, allow_infinity=False, exclude_max=True)
    if not is_integer and high is not None:
        yield st.floats(min_value=high, allow_infinity=False, exclude_min=True)


def row(*positions: Strategy) -> Strategy:
    """Draw an array of these positions."""
    return st.tuples(*positions).map(list)


def repeated(part: Strategy, size: int) -> Strategy:
    """Draw text, bytes or a list that is this long: a part of it over and over."""
    return part.map(lambda drawn: (drawn * (size // len(drawn) + 1))[:size])


def base64_texts(min_size: int = 0, max_size: int | None = None) -> Strategy:
    """Draw Base64 text of so many bytes."""
    if min_size > LONG:
        drawn: Strategy = repeated(st.binary(min_size=1, max_size=8), min_size)
    else:
        drawn = st.binary(min_size=min_size, max_size=max_size)
    return drawn.map(lambda data: base64.b64encode(data).decode("ascii"))


def lists(items: Strategy, min_size: int, max_size: int | None = None) -> Strategy:
    """Draw lists of so many items."""
    if min_size > LONG:
        return repeated(st.lists(items, min_size=1, max_size=4), min_size)
    return st.lists(items, min_size=min_size, max_size=max_size)


def not_base64_texts(min_size: int = 0, max_size: int | None = None) -> Strategy:
    """Draw text that is not Base64 text, or represents too few or too many bytes."""
    broken = st.text(min_size=1).filter(lambda text: bytes_length(text) == -1)
    if min_size:
        broken |= base64_texts(0, min_size - 1)
    return broken if max_size is None else broken | base64_texts(max_size + 1, max_size + 30)


def datetime_texts() -> Strategy:
    """Draw times with microseconds, in UTC, as RFC 3339 text."""
    return st.datetimes(timezones=st.just(timezone.utc)).map(lambda time: time.isoformat())


def not_of(*types: str) -> Strategy:
    """Draw a JSON value of none of these JSON types; integral floats, which are both, never."""
    pools: Mapping[str, Strategy] = {
        "null": st.none(),
        "boolean": st.booleans(),
        "integer": INT64,
        "number": numbers().filter(lambda number: not number.is_integer()),
        "string": st.text(),
        "array": st.lists(json_values(), max_size=2),
        "object": st.dictionaries(st.text(), json_values(), max_size=2),
    }
    also = {"number": ("integer",), "double": ("number",)}
    excluded = {*types, *(name for kind in types for name in also.get(kind, ()))}
    return st.one_of([pool for name, pool in pools.items() if name not in excluded])


def not_null(strategy: Strategy) -> Strategy:
    """Draw from a strategy what is not None."""
    return strategy.filter(lambda value: value is not None)


def broken_object(
    valid: Strategy, spoilt: Mapping[str, Strategy], required: Sequence[str] = ()
) -> Strategy:
    """Draw no object at all, or a valid one with one property invalid or missing."""
    choices: list[Strategy] = [not_of("object")]
    choices += [_with(valid, name, strategy) for name, strategy in spoilt.items()]
    choices += [_without(valid, name) for name in required]
    return st.one_of(choices)


def flat(name: str, other: Strategy, entries: Strategy) -> Strategy:
    """Draw an object with inlined map entries, next to a property that may be renamed."""
    names = st.just(name) | st.text()
    return st.tuples(names, other, entries).map(lambda drawn: _beside(*drawn))


def broken_flat(
    name: str, pair: tuple[Strategy, Strategy], entries: Strategy, broken: Strategy
) -> Strategy:
    """Draw what `flat` does not: no object, or one without its property, or with an invalid value.

    Args:
        name: Name of the property.
        pair: Its valid values, and its broken ones.
        entries: The valid maps.
        broken: The broken values of their entries.
    """
    other, spoilt = pair
    entry = st.tuples(st.text().filter(lambda text: text != name), broken)
    return st.one_of(
        not_of("object"),
        entries.map(lambda drawn: {key: drawn[key] for key in drawn if key != name}),
        st.tuples(spoilt, entries).map(lambda drawn: _beside(name, *drawn)),
        st.tuples(other, entry).map(lambda drawn: _beside(name, drawn[0], dict([drawn[1]]))),
    )


def _beside(name: str, other: object, entries: Mapping[str, object]) -> dict[str, object]:
    return {name: other, **{key: entries[key] for key in entries if key != name}}


def broken_row(
    valid: Strategy, spoilt: Mapping[int, Strategy], *, is_open: bool = False
) -> Strategy:
    """Draw no array, one of another length, or a valid one with one position invalid.

    One that is open may be longer.
    """
    choices: list[Strategy] = [not_of("array"), valid.map(lambda value: value[:-1])]
    if not is_open:
        choices.append(valid.map(lambda value: [*value, None]))
    choices += [_with_position(valid, i, strategy) for i, strategy in spoilt.items()]
    return st.one_of(choices)


def not_as_long(values: Strategy, lengths: Sequence[int]) -> Strategy:
    """Draw from a strategy what is not an array of one of these lengths."""
    return values.filter(lambda value: type(value) is not list or len(value) not in lengths)


def broken_tag(valid: Strategy, tag: str, other: Strategy) -> Strategy:
    """Draw a valid object whose tag is missing, or is one that no arm has."""
    return _without(valid, tag) | _with(valid, tag, other)


def broken_list(
    items: Strategy, spoilt: Strategy, min_items: int = 0, max_items: int | None = None
) -> Strategy:
    """Draw no array, one with an invalid item, or one of a length out of bounds."""
    around = lists(items, max(min_items - 1, 0), min_items + 2)
    broken = not_of("array") | st.tuples(around, spoilt).map(lambda pair: [*pair[0], pair[1]])
    if min_items:
        broken |= st.lists(items, max_size=min_items - 1)
    return broken if max_items is None else broken | lists(items, max_items + 1)


def broken_map(values: Strategy, spoilt: Strategy) -> Strategy:
    """Draw no object, or one with an invalid value."""
    valid = st.dictionaries(st.text(), values, max_size=2)
    entry = st.tuples(st.text(), spoilt)
    return not_of("object") | st.tuples(valid, entry).map(
        lambda pair: {**pair[0], pair[1][0]: pair[1][1]}
    )


def _with(valid: Strategy, name: str, spoilt: Strategy) -> Strategy:
    return st.tuples(valid, spoilt).map(lambda pair: {**pair[0], name: pair[1]})


def _with_position(valid: Strategy, i: int, spoilt: Strategy) -> Strategy:
    return st.tuples(valid, spoilt).map(lambda pair: [*pair[0][:i], pair[1], *pair[0][i + 1 :]])


def _without(valid: Strategy, name: str) -> Strategy:
    return valid.map(lambda value: {key: value[key] for key in value if key != name})
