"""Messages in which the entries of a map are properties, next to one property of any name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from changewire_library.support import Issue, insert, pointer_token


def flat_name(obj: Mapping[str, Any], name: str, needed: Iterable[str]) -> str:
    """Return the name of the property next to which the entries of a map are.

    It is the usual name, if its value is an object with all properties that are needed; otherwise
    the first name whose value is, or again the usual one.
    """
    for other in (name, *obj):
        value = obj.get(other)
        if type(value) is dict and all(word in value for word in needed):
            return other
    return name


def gather(obj: dict[str, Any], name: str, entries: str, needed: Iterable[str]) -> str:
    """Move the entries from an object to a map, in place; `scatter` undoes it.

    Args:
        obj: The object.
        name: Name of the other property in the schema.
        entries: Name of the map.
        needed: By what the other property is found; see `flat_name`.

    Returns:
        The name of the other property on the wire.

    Raises:
        KeyError: It is missing.
    """
    found = flat_name(obj, name, needed)
    value = obj.pop(found)
    others = dict(obj)
    obj.clear()
    obj.update({name: value, entries: others})
    if found != name:
        obj["@named"] = found
    return found


def scatter(obj: dict[str, Any], name: str, entries: str) -> None:
    """Move the entries of a map to the object that has it, in place.

    Raises:
        ValueError: An entry has the name of the other property.
    """
    found, others = obj.pop("@named", name), obj.pop(entries)
    value, extra = obj.pop(name), obj.pop("@extra", {})
    if found in others:
        raise ValueError(found)
    obj.update({found: value, **others})
    for pointer, more in extra.items():
        insert(obj, pointer, more)


class _Name(str):
    """A name that equals no other one."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Return whether it is this very object."""
        return self is other


_names_of = msgspec.json.Decoder(
    dict[_Name, msgspec.Raw], dec_hook=lambda kind, name: kind(name)
).decode
_elements_of = msgspec.json.Decoder(list[msgspec.Raw]).decode


_FEW = 64
"""Names for each of which a text is searched: for many of them that takes longer than parsing."""


def entry_twice(text: bytes, obj: Mapping[str, Any]) -> str | None:
    """Return a name that occurs twice at the root of JSON text, of which `obj` was parsed.

    Most texts show at a glance that none does: they have no escapes, and no other text is a name.
    """
    is_plain = len(obj) <= _FEW and b"\\" not in text
    if is_plain and all(text.count(b'"%b"' % name.encode()) == 1 for name in obj):
        return None
    seen: set[str] = set()
    for name in map(str.__str__, _names_of(text)):
        if name in seen:
            return name
        seen.add(name)
    return None


def entries_twice(text: bytes, obj: object) -> list[Issue]:
    """Return an issue for a name that occurs twice at the root of a message, or of a batch's."""
    found: list[tuple[str, bytes, Any]] = [("", text, obj)]
    if isinstance(obj, list):
        parts = map(bytes, _elements_of(text))
        found = [(f"/{i}", *pair) for i, pair in enumerate(zip(parts, obj, strict=True))]
    names = [(at, entry_twice(part, item)) for at, part, item in found if type(item) is dict]
    expected = "a name that no other property at the root has"
    return [
        (f"{at}/{pointer_token(name)}", "json", expected, msgspec.UNSET)
        for at, name in names
        if name is not None
    ]
