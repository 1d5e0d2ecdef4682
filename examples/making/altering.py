"""Ways in which a message in JSON can be altered, to damage it or to make it unusual."""

from collections.abc import Callable, Sequence

from examples.making.rows import Json
from examples.making.shapes import text

Alteration = Callable[[Json], bytes]
"""From a good message to the bytes of another one."""


def cut(count: int) -> Alteration:
    """Return what cuts bytes off the end."""
    return lambda m: text(m)[:-count]


def replaced(old: bytes, new: bytes) -> Alteration:
    """Return what replaces bytes of the encoded message, once."""
    return lambda m: text(m).replace(old, new, 1)


def having(*place: str, **values: object) -> Alteration:
    """Return what sets properties of the object at a place."""
    return lambda m: text(_at(m, place, lambda found: {**found, **values}))


def lacking(*place: str) -> Alteration:
    """Return what takes the property at a place away."""
    *above, name = place
    return lambda m: text(
        _at(m, above, lambda found: {key: value for key, value in found.items() if key != name})
    )


def _at(m: Json, place: Sequence[str], change: Callable[[Json], Json]) -> Json:
    """Return a message with the object at a place changed."""
    if not place:
        return change(m)
    return {**m, place[0]: _at(m[place[0]], place[1:], change)}
