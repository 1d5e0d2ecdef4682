"""What texts show of a message: bounded, and without characters that a terminal obeys."""

import reprlib
from typing import Any, Final

_POINTER_HEAD: Final = 120
_POINTER_TAIL: Final = 60
_VALUE: Final = 60


class _Repr(reprlib.Repr):
    """Shows what msgspec itself shows by its address."""

    def repr_Ext(self, value: Any, level: int) -> str:  # noqa: N802 - the name of the type
        return f"Ext({value.code}, {self.repr1(bytes(value.data), level - 1)})"


_repr = _Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = _VALUE


def shown_pointer(pointer: str) -> str:
    """Return a JSON Pointer with what cannot be printed escaped, and a long one cut in its midst.

    The names in it may come from a message, whoever wrote that.
    """
    if len(pointer) > _POINTER_HEAD + _POINTER_TAIL:
        pointer = f"{pointer[:_POINTER_HEAD]}…{pointer[-_POINTER_TAIL:]}"
    if pointer.isprintable():
        return pointer
    return "".join(c if c.isprintable() else _escaped(c) for c in pointer)


def shown_value(value: object) -> str:
    """Return a value as Python would write it, cut where it is long or nested deep."""
    text = _repr.repr(value)
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
