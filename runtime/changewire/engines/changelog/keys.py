"""The key that is looked for, and which keys of a log are that one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import Struct

from changewire.codec.wire import PARSER_ERRORS
from changewire.tables.keys import key_text
from changewire_messages.hooks import exact_number

_PARSE: Final = msgspec.json.Decoder(float_hook=exact_number).decode
_INEXACT: Final = frozenset({float, Decimal})


class Wanted(Struct, frozen=True):
    """A key that is looked for: the values that are meant for each column, and their `key_text`."""

    values: Mapping[str, tuple[Any, ...]]
    texts: Mapping[str, frozenset[str]]

    def is_key(self, key: Mapping[str, Any]) -> bool:
        """Whether this is the key."""
        return key.keys() == self.values.keys() and all(
            (type(value) in _INEXACT or value in self.values[name])
            and key_text({name: value}) in self.texts[name]
            for name, value in key.items()
        )


def parsed(text: str) -> dict[str, Any]:
    """Return an object of JSON text, with exact numbers; other text raises a ValueError."""
    try:
        return msgspec.convert(_PARSE(text), dict[str, Any])
    except (*PARSER_ERRORS, msgspec.ValidationError):
        raise ValueError("no JSON object") from None


def wanted_of(words: Sequence[str]) -> Wanted:
    """Return the key that a person means: a JSON object, or ``column=value`` for each column.

    Such a value may be meant as text or as JSON.
    """
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return wanted_key(parsed(words[0]))
    found: dict[str, tuple[Any, ...]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (name and equals):
            raise ValueError("a key is column=value for each of its columns, or a JSON object")
        if name in found:
            raise ValueError(f"a key has a column once, and {name!r} is given twice")
        try:
            found[name] = (text, _PARSE(text))
        except PARSER_ERRORS:
            found[name] = (text,)
    return _wanted(found)


def wanted_key(key: Any) -> Wanted:
    """Return the key of a mapping of columns to values as in JSON."""
    if not isinstance(key, Mapping):
        raise TypeError(f"a key is a mapping of columns to values, not {type(key).__name__}")
    return _wanted({name: (value,) for name, value in key.items()})


def either(key: Mapping[str, Any]) -> Wanted:
    """Return a key whose values may be kept as their text too, as in columns without a type."""
    texts = {
        n: v if isinstance(v, str) else msgspec.json.encode(v).decode() for n, v in key.items()
    }
    return _wanted({name: (value, texts[name]) for name, value in key.items()})


def _wanted(values: Mapping[str, tuple[Any, ...]]) -> Wanted:
    if not values:
        raise ValueError("a key has at least one column")
    texts = {
        name: frozenset(key_text({name: value}) for value in meant)
        for name, meant in values.items()
    }
    return Wanted(values, texts)
