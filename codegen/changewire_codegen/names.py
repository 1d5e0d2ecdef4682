"""Names on the wire to names in Python."""

from __future__ import annotations

import keyword
import re

CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*\Z")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHER = re.compile(r"[^A-Za-z0-9]+")

# msgspec.Struct has these, or they would shadow what generated classes use.
RESERVED = frozenset({"extra"})
UNCARRIABLE = re.compile(r"[\"\\\x00-\x1f\ud800-\udfff]")


def python_name(wire: str) -> str:
    """Return the attribute name for a wire name: snake_case, never a keyword, never empty."""
    name = _OTHER.sub("_", _CAMEL.sub("_", wire)).strip("_").lower()
    if not name or name[0].isdigit():
        name = f"field_{name}".rstrip("_")
    return f"{name}_" if keyword.iskeyword(name) or name in RESERVED else name


def snake(title: str) -> str:
    """Return a class name in snake_case."""
    return _CAMEL.sub("_", title).lower()


def escape_pointer(part: str) -> str:
    """Return one reference token of a JSON Pointer (RFC 6901, section 3)."""
    return part.replace("~", "~0").replace("/", "~1")
