"""Models as text that is the same in every run: equal models, NaN and all, have equal texts."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.msgpack import Ext
from msgspec.structs import astuple


def shown(model: Any) -> str:
    """Return the ``repr`` of a model, in which an extension type shows what it holds."""
    text = repr(model)
    for ext in _exts(model):
        # Its own repr is its address.
        text = text.replace(repr(ext), f"Ext({ext.code}, {bytes(ext.data)!r})")
    return text


def _exts(value: Any) -> Iterator[Ext]:
    if isinstance(value, Ext):
        yield value
    if isinstance(value, Struct):
        value = list(astuple(value))
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _exts(item)
