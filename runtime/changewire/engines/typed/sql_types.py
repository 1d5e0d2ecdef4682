"""Types of columns as people write them in Spark's SQL, read without Spark and without Arrow.

https://spark.apache.org/docs/latest/sql-ref-datatypes.html
"""

from __future__ import annotations

import re
from typing import Any, Final

_SCALARS: Final = {
    "bigint": "long",
    "binary": "binary",
    "boolean": "boolean",
    "byte": "byte",
    "date": "date",
    "double": "double",
    "float": "float",
    "int": "integer",
    "integer": "integer",
    "long": "long",
    "real": "float",
    "short": "short",
    "smallint": "short",
    "string": "string",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "tinyint": "byte",
}
"""Names of scalar types in the JSON form of a StructType, by those in SQL."""

_DECIMALS: Final = frozenset({"dec", "decimal", "numeric"})
_DIGITS: Final = (10, 0)
"""Precision and scale of a decimal that names neither."""

_MOST_DIGITS: Final = 38
_DEEPEST: Final = 30
"""Levels of nesting at most: Arrow passes types of 64 levels on, and a map has two."""

_WORD: Final = re.compile(r"\s*(`(?:[^`]|``)+`|\w+|\S)")
_NAME: Final = re.compile(r"`.+`|\w+", re.DOTALL)


def type_of_text(text: str) -> Any:
    """Return a type in the JSON form of a StructType, such as ``long`` for ``bigint``.

    Args:
        text: The type in Spark's SQL, such as ``decimal(12,2)`` or ``array<struct<a: int>>``.

    Raises:
        ValueError: A row has no column of such a type.
    """
    parser = _Parser(text)
    found = parser.kind()
    parser.need("")
    return found


class _Parser:
    """Reads one type from the start of a text."""

    def __init__(self, text: str) -> None:
        self._text: str = text
        self._words: list[str] = [*_WORD.findall(text.rstrip()), ""]
        self._place: int = 0
        self._depth: int = 0

    def need(self, word: str) -> None:
        """Go on after a word, which must be the next one; the empty one is the end."""
        if not self._has(word):
            raise self._error(repr(word) if word else "the end")

    def kind(self) -> Any:
        """Return the next type."""
        name = self._next().lower()
        if name in _SCALARS:
            return _SCALARS[name]
        if name in _DECIMALS:
            return self._decimal()
        inner = {"array": self._array, "map": self._map, "struct": self._struct}
        if name not in inner:
            self._place -= 1
            raise self._error("a type such as bigint, decimal(12,2), date or array<string>")
        self.need("<")
        if self._depth == _DEEPEST:
            raise self._refusal(f"expected at most {_DEEPEST} levels of nesting")
        self._depth += 1
        found = inner[name]()
        self._depth -= 1
        self.need(">")
        return found

    def _next(self) -> str:
        self._place += 1
        return self._words[self._place - 1]

    def _has(self, word: str) -> bool:
        """Whether a word is the next one; then go on after it."""
        is_next = self._words[self._place] == word
        self._place += is_next
        return is_next

    def _error(self, expected: str) -> ValueError:
        word = self._words[self._place]
        return self._refusal(f"expected {expected}, found {repr(word) if word else 'the end'}")

    def _refusal(self, why: str) -> ValueError:
        return ValueError(f"{self._text!r} is not a type of a column: {why}")

    def _decimal(self) -> str:
        precision, scale = _DIGITS
        if self._has("("):
            precision = self._number()
            scale = self._number() if self._has(",") else 0
            self.need(")")
        if not scale <= precision <= _MOST_DIGITS or precision == 0:
            text = f"a decimal has 1 to {_MOST_DIGITS} digits, with those after the dot"
            raise self._refusal(text)
        return f"decimal({precision},{scale})"

    def _number(self) -> int:
        if not self._words[self._place].isdecimal():
            raise self._error("a number of digits")
        return int(self._next())

    def _array(self) -> dict[str, Any]:
        return {"type": "array", "elementType": self.kind(), "containsNull": True}

    def _map(self) -> dict[str, Any]:
        keys = self.kind()
        self.need(",")
        values = self.kind()
        return {"type": "map", "keyType": keys, "valueType": values, "valueContainsNull": True}

    def _struct(self) -> dict[str, Any]:
        fields = [self._field()]
        while self._has(","):
            fields.append(self._field())
        names = {field["name"].lower() for field in fields}
        if len(names) < len(fields):
            text = "two fields have one name, whatever its case"
            raise self._refusal(text)
        return {"type": "struct", "fields": fields}

    def _field(self) -> dict[str, Any]:
        if not _NAME.fullmatch(self._words[self._place]):
            raise self._error("the name of a field")
        name = self._next()
        name = name[1:-1].replace("``", "`") if name.startswith("`") else name
        self._has(":")
        return {"name": name, "type": self.kind(), "nullable": True, "metadata": {}}
