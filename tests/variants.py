"""The variants of each format: the kinds of its messages."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_args

from changewire_messages import FORMATS


def variants(format: str) -> dict[str, type]:
    """Return the model of each kind of message, by its name.

    Where messages are one object around a payload, or beside metadata, the kinds are those of it.
    """
    package = import_module(FORMATS[format])
    unions = (getattr(package, name, None) for name in ("Payload", "Metadata", "Message"))
    union = next(union for union in unions if union is not None)
    return {kind.__name__: kind for kind in _flat(union)}


def variant_of(model: Any) -> str:
    """Return the name of the kind that a message is of."""
    payload = type(getattr(model, "payload", getattr(model, "metadata", None)))
    name = next(name for name in FORMATS if type(model).__module__.startswith(FORMATS[name]))
    return (payload if payload.__name__ in variants(name) else type(model)).__name__


def _flat(union: Any) -> Iterator[Any]:
    for member in get_args(union) or [union]:
        yield from [member] if member is union else _flat(member)
