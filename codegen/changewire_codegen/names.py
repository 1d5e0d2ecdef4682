"""Names on the wire to names in Python."""

from __future__ import annotations

import keyword
import re
import unicodedata

CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*\Z")
PACKAGE_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LOOP = re.compile(r"item(\d*)\Z")
_OTHER = re.compile(r"[\W_]+")

# Inside a class these would hide what its annotations mean; the first is ours.
RESERVED = frozenset(
    {"extra", "field", "datetime", "bool", "bytes", "dict", "float", "int", "list", "str"}
)
# Where models keep what has no attribute; the tag of an open arm is kept in this way, too.
KEPT = frozenset({"@alone", "@extra", "@named"})
# Generated modules import or define these themselves.
RESERVED_TITLES = frozenset(
    {
        *("ALONE", "Alone", "Annotated", "Any", "Callable", "ClassVar", "DIGESTS", "ENCODING"),
        *("EXACT", "Extra", "FLAT", "FORMAT", "Final", "Int32", "Int64", "Literal", "Mapping"),
        *("Meta", "Named", "OpenTag", "Optional", "ROLES", "Raw", "Struct", "TypeAlias", "UNSET"),
        *("Union", "UnsetType", "ValueError"),
    }
)
UNCARRIABLE = re.compile(r"[\"\\\x00-\x1f\ud800-\udfff]")


def title_problem(title: str) -> str | None:
    """Return why a class cannot have a title as its name; None if it can."""
    if not CLASS_NAME.match(title):
        return f"the title {title!r} is not a class name: use CamelCase"
    if keyword.iskeyword(title):
        return f"the title {title!r} is a keyword of Python"
    if title in RESERVED_TITLES:
        return f"the title {title!r} is reserved: generated code uses it itself"
    return None


def python_name(wire: str) -> str:
    """Return the attribute name for a wire name: snake_case, never a keyword, never empty.

    Letters of every script stay; Python reads a name in its NFKC form.
    """
    text = unicodedata.normalize("NFKC", wire)
    name = _OTHER.sub("_", _CAMEL.sub("_", text)).strip("_").lower()
    name = "".join(c for c in unicodedata.normalize("NFKC", name) if f"a{c}".isidentifier())
    if not name.isidentifier():
        name = f"field_{name}".rstrip("_")
    return f"{name}_" if keyword.iskeyword(name) or name in RESERVED else name


def snake(title: str) -> str:
    """Return a class name in snake_case."""
    return _CAMEL.sub("_", title).lower()


def inner(variable: str) -> str:
    """Return the suffix for the variables of a loop over ``variable``, which may be one itself."""
    found = _LOOP.match(variable)
    return str(int(found[1] or 1) + 1) if found else ""


def escape_pointer(part: str) -> str:
    """Return one reference token of a JSON Pointer (RFC 6901, section 3)."""
    return part.replace("~", "~0").replace("/", "~1")
