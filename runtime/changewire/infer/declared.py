"""What schemas in messages declare of columns, as if it had been seen, but in no value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from changewire.infer.seen import (
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
    Seen,
)

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


def declare(seen: Seen, columns: Mapping[str, Any]) -> None:
    """Add the columns that a schema declares.

    Args:
        seen: What was seen of rows.
        columns: The column type of a row, as `changewire.changes.embedded.row_type` gives it.
    """
    seen.kinds[OBJECT] += 0
    for field in columns["fields"]:
        child = seen.child(field["name"]) or seen.inner()
        metadata = field["metadata"]
        words = metadata.get("comment")
        if words and words not in child.declared:
            child.declared.append(words)
            if words.endswith(_OR_NULL):
                child.kinds[NULL] += 0
        if metadata.get("contentMediaType") != _JSON_TEXT:  # which takes what is seen
            _declare(child, field["type"])


def _declare(seen: Seen, kind: Any) -> None:
    if isinstance(kind, str):
        is_decimal = kind.startswith(DECIMAL)
        seen.is_inexact |= is_decimal
        seen.kinds[DECIMAL if is_decimal else _KINDS.get(kind, ANY)] += 0
    elif kind["type"] == "struct":
        declare(seen, kind)
    elif kind["type"] == "array":
        seen.kinds[ARRAY] += 0
        _declare(seen.inner(), kind["elementType"])
    elif kind["keyType"] == "string":
        seen.kinds[OBJECT] += 0
        seen.become_map()
        _declare(seen.inner(), kind["valueType"])
    else:
        seen.kinds[ANY] += 0
