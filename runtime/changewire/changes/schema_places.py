"""Where two schemas differ, apart from their columns."""

from collections.abc import Iterator
from typing import Any, Final

from changewire_messages.support import pointer_token

_LEVELS: Final = 20
"""Levels that are compared place by place; what lies deeper is compared as a whole."""


def places(old: Any, new: Any, at: str = "", levels: int = _LEVELS) -> Iterator[str]:
    """Yield the JSON Pointers at which two parsed schemas differ, in the order of the old one.

    Args:
        old: A schema as JSON has it, as is `new`.
        new: See there.
        at: The place of both.
        levels: Levels below it that are compared place by place.
    """
    if levels and isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            place = f"{at}/{pointer_token(name)}"
            if name in old and name in new:
                yield from places(old[name], new[name], place, levels - 1)
            else:
                yield place
    elif levels and isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from places(one, other, f"{at}/{i}", levels - 1)
    elif type(old) is not type(new) or old != new:
        yield at
