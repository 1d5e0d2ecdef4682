"""Messages of one format as messages of another, or as an older version of that format."""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from changewire.codec import Data, EncodeError, Issue, codec, codec_of
from changewire.codec.registry import decode_whole
from changewire.codec.wire import too_deep
from changewire.convert import aerospike, aerospike_flat_json
from changewire.convert.aerospike import LEGACY
from changewire.convert.report import Report
from changewire_messages.support import Path

__all__ = ["CONVERSIONS", "OnLoss", "Version", "convert", "convert_key", "in_version"]

OnLoss = Callable[[Issue], object]

CONVERSIONS: Final = {**aerospike.CONVERSIONS, **aerospike_flat_json.CONVERSIONS}
"""Pairs of source and target, with what makes a model of the one a model of the other."""


def convert(
    data: Data, *, source: str, target: str, lossy: bool = False, on_loss: OnLoss | None = None
) -> bytes:
    """Return a message, or a batch, of one format as bytes of another.

    Values that the target lacks are rejected, all of it at once, unless `lossy` allows it; the
    losses are named in docs/guides/python.md. Some things are rejected always: keys of a map that
    would be the same as text, integers beyond 64 bits, and bins of a type that the target lacks.

    Args:
        data: The value of a Kafka record.
        source: Format of `data`.
        target: Format to convert to.
        lossy: Whether to convert although something is lost.
        on_loss: Called with each loss once the message is converted: an `Issue` of the code
            ``lossy``, its pointer leads to the place in `data`. ``losses.append`` is one.

    Raises:
        DecodeError: `data` is rejected; one rejected element rejects its batch.
        EncodeError: Something would be lost, or cannot be converted; the pointers lead into `data`.
        ValueError: There is no such conversion.
    """
    mapping = _conversion(source, target)
    return _written(
        decode_whole(data, codec(source)), mapping, target, lossy=lossy, on_loss=on_loss
    )


def convert_key(
    data: Data, *, source: str, target: str, lossy: bool = False, on_loss: OnLoss | None = None
) -> bytes:
    """Return a Kafka record key, or the keys of a batch, as bytes of another format.

    Arguments and errors are those of `convert`.
    """
    mapping = _conversion(source, target)
    key = codec(source).decode_key(data)
    return _written(key, mapping, target, lossy=lossy, on_loss=on_loss)


def _conversion(source: str, target: str) -> Callable[[Any, Path, Report], Any]:
    try:
        return CONVERSIONS[source, target]
    except KeyError:
        pairs = ", ".join(f"{one} to {other}" for one, other in CONVERSIONS)
        text = f"no conversion from {source!r} to {target!r}; there are: {pairs}"
        raise ValueError(text) from None


def _written(
    model: Any,
    mapping: Callable[[Any, Path, Report], Any],
    target: str,
    *,
    lossy: bool,
    on_loss: OnLoss | None,
) -> bytes:
    report = Report()
    try:
        if isinstance(model, list):
            found = [mapping(element, ((), i), report) for i, element in enumerate(model)]
        else:
            found = mapping(model, (), report)
    except RecursionError:
        raise EncodeError(target, [too_deep("convert")]) from None
    report.check(target, lossy=lossy)
    data = codec(target).encode(found)
    if on_loss is not None:
        for loss in report.losses():
            on_loss(loss)
    return data


Version: TypeAlias = Literal["current", "legacy"]


def in_version(model: object, version: Version) -> Any:
    """Return a model, or a list of models, as a version of its format writes it."""
    if version == "current":
        return model
    if version not in get_args(Version):
        raise ValueError(f"no version {version!r}; there are: {', '.join(get_args(Version))}")
    name = codec_of(model).format
    if name not in LEGACY:
        raise ValueError(f"{name} has no legacy version; {', '.join(LEGACY)} has one")
    legacy, issues = LEGACY[name], list[Issue]()
    if isinstance(model, list):
        found: Any = [legacy(item, f"/{i}", issues) for i, item in enumerate(model)]
    else:
        found = legacy(model, "", issues)
    if issues:
        raise EncodeError(name, issues)
    return found
