"""The formats that are installed, by name."""

from functools import cache
from importlib import import_module
from typing import Any, Final

from msgspec import UNSET

from changewire.codec.codec import Codec
from changewire.codec.family import Family, first_of
from changewire.codec.issues import DecodeError, Issue
from changewire.codec.wire import Data
from changewire.msgpack_heads import ARRAYS
from changewire_messages import ENCODINGS, FORMATS


def formats() -> list[str]:
    """Return the names of all formats, sorted."""
    return sorted(FORMATS)


@cache
def codec(format: str) -> Codec:
    """Return the codec of a format; the same object each time.

    Raises:
        ValueError: No format has this name.
    """
    return Codec(family(format))


@cache
def family(format: str) -> Family:
    """Return the generated family of a format; the same object each time.

    Raises:
        ValueError: No format has this name.
    """
    if format not in FORMATS:
        message = f"no format {format!r}; there are: {', '.join(formats())}"
        raise ValueError(message)
    return Family(import_module(FORMATS[format]))


def codec_of(model: object) -> Codec:
    """Return the codec of the format that a model, or a list of models, belongs to.

    Raises:
        TypeError: It is no model of a message.
    """
    first = first_of(model)
    found = _codec_of_module(type(first).__module__)
    if found is None:
        text = f"{type(first).__name__} is no model of a message; use codec(format) for no messages"
        raise TypeError(text)
    return found


@cache
def _codec_of_module(module: str) -> Codec | None:
    package = module.rpartition(".")[0]
    return next((codec(name) for name in FORMATS if FORMATS[name] == package), None)


def detect(data: Data) -> str | None:
    """Return the name of the format that a message says it has; None where it says none.

    A message of a known format may still be refused by `decode`.
    """
    found = _read_by(data)
    return _named(data) if found is None else found[0].format


def decode_any(data: Data) -> Any:
    """Return the model of a message of any format.

    Raises:
        DecodeError: The message is refused, or says of no format that it has it.
    """
    found = _read_by(data)
    return _codec_named(data).decode(data) if found is None else found[1]


def decode_all_any(data: Data) -> tuple[Codec, list[Any]]:
    """Return the codec of a message of any format, and its elements as `Codec.decode_all` has them.

    Raises:
        DecodeError: The message says of no format that it has it.
    """
    found = _read_by(data)
    if found is not None:
        return found[0], [found[1]]
    reader = _codec_named(data)
    return reader, reader.decode_all(data)


def codec_for(data: Data) -> Codec:
    """Return the codec of the format that a message says it has.

    Raises:
        DecodeError: It says none.
    """
    found = _read_by(data)
    return _codec_named(data) if found is None else found[0]


def _codec_named(data: Data) -> Codec:
    name = _named(data)
    if name is None:
        expected = f"a message of {', '.join(formats())}"
        raise DecodeError("unknown", [Issue("", "unknown-variant", "format", expected)])
    return codec(name)


def _read_by(data: Data) -> tuple[Codec, Any] | None:
    """Return the codec that reads a message at once, and its model; None where none does.

    No message is read at once by two formats: each needs properties that the other ones do not
    know.
    """
    for reader in _codecs(_encoding(data)):
        model = reader.read_at_once(data)
        if model is not UNSET:
            return reader, model
    return None


def _named(data: Data) -> str | None:
    """Return the name of the format that a message says it has, whatever else is in it."""
    parsed: dict[tuple[str, bool], Any] = {}
    for reader in _codecs(_encoding(data)):
        if reader.grammar not in parsed:
            parsed[reader.grammar] = reader.parsed(data)
        if reader.is_of_it(parsed[reader.grammar]):
            return reader.format
    return None


@cache
def _codecs(encoding: str) -> list[Codec]:
    return [codec(name) for name in formats() if ENCODINGS[name] == encoding]


def _encoding(data: Data) -> str:
    """Return the encoding that a message may have: no JSON text begins as an array of MessagePack.

    All messages in MessagePack are arrays.
    """
    if isinstance(data, str):
        return "json"
    return "msgpack" if bytes(memoryview(data)[:1]) in _ARRAY_HEADS else "json"


_ARRAY_HEADS: Final = frozenset(bytes([first]) for first in ARRAYS)
