"""From the kinds of values that were seen at one place to one type of the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from changewire.infer.seen import (
    ANY,
    BOOLEAN,
    BYTES,
    DECIMAL,
    FLOAT,
    INTEGER,
    NULL,
    STRING,
    TEXT,
    TIME,
    Seen,
)

JOINED: Final = "joined"
"""Kind of a place with scalars of several types."""

SCALARS: Final[Mapping[str, Mapping[str, Any]]] = {
    BOOLEAN: {"type": "boolean"},
    BYTES: {"type": "string", "contentEncoding": "base64"},
    DECIMAL: {"type": "string"},
    FLOAT: {"type": "number"},
    INTEGER: {"type": "integer"},
    STRING: {"type": "string"},
    TEXT: {"type": "string"},
    TIME: {"type": "string", "format": "date-time"},
}
"""Schema of the values of a kind. A decimal that binary64 does not hold is its text."""

_NUMBERS: Final = frozenset({INTEGER, FLOAT, DECIMAL})
_TEXTS: Final = frozenset({STRING, TEXT, TIME})
_TOLD_APART: Final = frozenset({BOOLEAN, INTEGER, STRING})
"""Kinds that a value's JSON type tells apart, whatever values follow."""


def kind_of(seen: Seen) -> str:
    """Return the kind that takes all values of a place; ANY where no narrower one does."""
    kinds = seen.kinds.keys() - {NULL}
    if kinds == {DECIMAL} and not seen.is_inexact:
        return FLOAT
    if len(kinds) == 1:
        return str(next(iter(kinds)))
    if kinds and kinds <= _NUMBERS:
        return _number(seen)
    if kinds and kinds <= _TEXTS:
        return STRING
    return JOINED if kinds and kinds <= _TOLD_APART else ANY


def _number(seen: Seen) -> str:
    if not seen.is_inexact:
        return FLOAT
    only_decimals = not (seen.kinds[INTEGER] or seen.kinds[FLOAT])
    return DECIMAL if only_decimals and DECIMAL in seen.kinds else ANY


def joined_types(seen: Seen) -> list[str]:
    """Return the JSON types of a place with scalars of several."""
    return sorted(_TOLD_APART & seen.kinds.keys())
