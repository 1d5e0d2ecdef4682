"""The formats that are installed, by name."""

from functools import cache
from typing import Any, Final

from msgspec import UNSET

from changewire.codec.border import guarded
from changewire.codec.codec import Codec
from changewire.codec.family import GeneratedFamily, first_of
from changewire.codec.installed import (
    FormatError,
    encoding_of,
    format_of,
    formats,
    loading,
    module_of,
    others,
    refused,
)
from changewire.codec.issues import DecodeError
from changewire.codec.unclaimed import UNKNOWN, Unclaimed
from changewire.codec.unclaimed import unclaimed as unclaimed_by
from changewire.codec.wire import Data
from changewire.msgpack_heads import ARRAYS
from changewire_messages import FORMATS


@cache
def codec(format: str) -> Codec:
    """Return the codec of a format; the same object each time.

    Raises:
        ValueError: No format has this name, or its package cannot be used (`FormatError`).
    """
    with loading(format):
        return Codec(family(format))


@cache
def family(format: str) -> GeneratedFamily:
    """Return the generated family of a format, as `codec` returns its codec."""
    with loading(format):
        return GeneratedFamily(module_of(format))


def codec_of(model: object) -> Codec:
    """Return the codec of the format that a model, or a list of models, belongs to.

    Raises:
        TypeError: It is not a model of a message.
    """
    first = first_of(model)
    found = _codec_of_module(type(first).__module__)
    if found is None:
        name = type(first).__name__
        raise TypeError(f"{name} is not a model of a message; for an empty batch use codec(format)")
    return found


@cache
def _codec_of_module(module: str) -> Codec | None:
    name = format_of(module.rpartition(".")[0])
    return None if name is None else codec(name)


def detect(data: Data) -> str | None:
    """Return the name of the format that a message says it has; None if it says none.

    A message of a known format may still be rejected by `decode`.
    """
    try:
        found = _claim(data)
    except DecodeError:
        return None
    return None if found is None else found[0].format


def decode_any(data: Data) -> Any:
    """Return the model of a message of any format.

    Raises:
        DecodeError: The message is rejected, or no format claims it; see `unclaimed`.
    """
    reader, model = _claimed(data)
    return reader.decode(data) if model is UNSET else model


def decode_all_any(data: Data) -> tuple[Codec, list[Any]]:
    """Return the codec of a message of any format, and its elements as `Codec.decode_all` has them.

    Raises:
        DecodeError: No format claims the message; see `unclaimed`.
    """
    reader, model = _claimed(data)
    return reader, reader.decode_all(data) if model is UNSET else [model]


def decode_whole(data: Data, reader: Codec) -> Any:
    """Return the model of a message, or a list of those of a batch."""
    try:
        return reader.decode(data)
    except DecodeError as error:
        if error.code != "batch":
            raise
    try:
        return [model for _, model in reader.models_in(data)]
    except DecodeError as error:
        issues = reader.validate(data) or error.issues
    raise DecodeError(reader.format, issues)


def codec_for(data: Data) -> Codec:
    """Return the codec of the format that a message says it has."""
    return _claimed(data)[0]


def unclaimed(data: Data) -> Unclaimed:
    """Return why no format claims a message, and which one it comes nearest to."""
    encoding = _encoding(data)
    alike = [name for name in usable() if encoding_of(name) == encoding]
    return unclaimed_by(data, formats(), [family(name) for name in alike])


@cache
def usable() -> list[str]:
    """Return the names of the formats whose packages can be used: ours, then others."""
    return [*sorted(FORMATS), *(name for name in others() if _fault(name) is None)]


def unusable() -> dict[str, str]:
    """Return why formats of other packages cannot be used, by name."""
    faults = {name: _fault(name) for name in others()}
    return {**refused(), **{name: fault for name, fault in faults.items() if fault is not None}}


def _fault(name: str) -> str | None:
    try:
        codec(name)
    except FormatError as error:
        return str(error)
    return None


def _claimed(data: Data) -> tuple[Codec, Any]:
    found = _claim(data)
    if found is None:
        raise guarded(DecodeError, UNKNOWN, unclaimed, data).error
    return found


def _claim(data: Data) -> tuple[Codec, Any] | None:
    """Return the codec of the format that a message says it has, and its model if read at once.

    An unexpected exception is a `DecodeError`.

    Built-in formats come first: no installed package changes the result for their messages. A
    format whose package cannot be used claims none.
    """
    encoding = _encoding(data)
    return _claim_by(_ours(encoding), data) or _claim_by(_others(encoding), data)


def _claim_by(readers: list[Codec], data: Data) -> tuple[Codec, Any] | None:
    """Return as `_claim` does, for some formats.

    No message is of two built-in formats at once: each needs properties that the other ones do
    not know. One that has to parse the whole message for that comes last.
    """
    for reader in sorted(readers, key=lambda reader: reader.is_flat):
        model = reader.read_at_once(data)
        if model is not UNSET:
            return reader, model
    parsed: dict[tuple[str, bool], Any] = {}
    for reader in readers:
        if reader.grammar not in parsed:
            parsed[reader.grammar] = reader.parsed(data)
        if reader.is_of_it(parsed[reader.grammar]):
            return reader, UNSET
    return None


@cache
def _ours(encoding: str) -> list[Codec]:
    return [codec(name) for name in sorted(FORMATS) if encoding_of(name) == encoding]


@cache
def _others(encoding: str) -> list[Codec]:
    found = [name for name in usable() if name not in FORMATS]
    return [codec(name) for name in found if encoding_of(name) == encoding]


def _encoding(data: Data) -> str:
    """Return the encoding that a message may have: no JSON text begins as an array of MessagePack.

    All messages in MessagePack are arrays.
    """
    if isinstance(data, str):
        return "json"
    return "msgpack" if bytes(memoryview(data)[:1]) in _ARRAY_HEADS else "json"


_ARRAY_HEADS: Final = frozenset(bytes([first]) for first in ARRAYS)
