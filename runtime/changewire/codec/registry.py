"""The formats that are installed, by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from changewire_messages import FORMATS

from changewire.codec.codec import Codec, Data
from changewire.codec.family import Family


def formats() -> list[str]:
    """Return the names of all formats, sorted."""
    return sorted(FORMATS)


@cache
def codec(format: str) -> Codec:  # noqa: A002 - the word of the API
    """Return the codec of a format; the same object each time.

    Raises:
        ValueError: No format has this name.
    """
    if format not in FORMATS:
        message = f"no format {format!r}; there are: {', '.join(formats())}"
        raise ValueError(message)
    return Codec(Family(import_module(FORMATS[format])))


def codec_of(model: object) -> Codec:
    """Return the codec of the format that a model, or a list of models, belongs to.

    Raises:
        TypeError: It is no model of a message.
    """
    first = model[0] if isinstance(model, list) and model else model
    module = type(first).__module__.rpartition(".")[0]
    for name, package in FORMATS.items():
        if package == module:
            return codec(name)
    message = f"{type(first).__name__} is no model of a message; use codec(format) for an empty batch"
    raise TypeError(message)


def detect(data: Data) -> str | None:
    """Return the name of the format that a message says it has; None where it says none.

    A message of a known format may still be refused by `decode`.
    """
    return next((name for name in formats() if codec(name).recognises(data)), None)
