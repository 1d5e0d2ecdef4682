"""Kinds of values at a place: from columns that schemas declare, and to one type of the dialect."""

from collections.abc import Mapping
from typing import Any, Final

from changewire.infer.profile import (
    ANY,
    ARRAY,
    BOOLEAN,
    BYTES,
    DECIMAL,
    FLOAT,
    INTEGER,
    NULL,
    OBJECT,
    STRING,
    TEXT,
    TIME,
    Profile,
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
"""Schema of the values of a kind. A decimal that binary64 does not represent is its text."""

_NUMBERS: Final = frozenset({INTEGER, FLOAT, DECIMAL})
_TEXTS: Final = frozenset({STRING, TEXT, TIME})
_DISTINCT: Final = frozenset({BOOLEAN, INTEGER, STRING})
"""Kinds that differ in the JSON type of their values."""


def kind_of(profile: Profile) -> str:
    """Return the kind that takes all values of a place; ANY if no narrower one does."""
    kinds = profile.kinds.keys() - {NULL}
    if kinds == {DECIMAL} and not profile.is_inexact:
        return FLOAT
    if len(kinds) == 1:
        return str(next(iter(kinds)))
    if kinds and kinds <= _NUMBERS:
        return _number(profile)
    if kinds and kinds <= _TEXTS:
        return STRING
    return JOINED if kinds and kinds <= _DISTINCT else ANY


def _number(profile: Profile) -> str:
    if not profile.is_inexact:
        return FLOAT
    only_decimals = not (profile.kinds[INTEGER] or profile.kinds[FLOAT])
    return DECIMAL if only_decimals and DECIMAL in profile.kinds else ANY


def joined_types(profile: Profile) -> list[str]:
    """Return the JSON types of a place with scalars of several."""
    return sorted(_DISTINCT & profile.kinds.keys())


_KINDS: Final[Mapping[str, str]] = {
    "binary": BYTES,
    "boolean": BOOLEAN,
    "byte": INTEGER,
    "date": TEXT,
    "double": FLOAT,
    "float": FLOAT,
    "integer": INTEGER,
    "long": INTEGER,
    "short": INTEGER,
    "string": STRING,
    "timestamp": TIME,
}
"""Kind of the values of each type of columns, in the words of Spark's schemas as JSON."""

_OR_NULL: Final = "?"
"""What follows a declared type where null is a value; see `changewire.changes.schemas`."""

_JSON_TEXT: Final = "application/json"


def declare(profile: Profile, columns: Mapping[str, Any]) -> None:
    """Add the columns that a schema declares, as `embedded.row_type` gives them."""
    profile.kinds[OBJECT] += 0
    for field in columns["fields"]:
        child = profile.child(field["name"]) or profile.inner()
        metadata = field["metadata"]
        words = metadata.get("comment")
        if words and words not in child.declared:
            child.declared.append(words)
            if words.endswith(_OR_NULL):
                child.kinds[NULL] += 0
        if metadata.get("contentMediaType") != _JSON_TEXT:  # which takes what is seen
            _declare(child, field["type"])


def _declare(profile: Profile, kind: Any) -> None:
    if isinstance(kind, str):
        is_decimal = kind.startswith(DECIMAL)
        profile.is_inexact |= is_decimal
        profile.kinds[DECIMAL if is_decimal else _KINDS.get(kind, ANY)] += 0
    elif kind["type"] == "struct":
        declare(profile, kind)
    elif kind["type"] == "array":
        profile.kinds[ARRAY] += 0
        _declare(profile.inner(), kind["elementType"])
    elif kind["keyType"] == "string":
        profile.kinds[OBJECT] += 0
        profile.become_map()
        _declare(profile.inner(), kind["valueType"])
    else:
        profile.kinds[ANY] += 0
