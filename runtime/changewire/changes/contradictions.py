"""Contradictions within a message, which no schema of its format finds."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace

from changewire.changes.adapters import change_row
from changewire.changes.closed import undeclared_in
from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.codec import CodecError, DecodeError, Issue, codec
from changewire.codec.wire import REFUSALS

_UNKNOWN: Final = "unknown-property"
DEFAULTS: Final = DecodeOptions(AUTO)
"""Options of messages that say all of themselves."""


def validate(
    data: object, *, format: str, closed: bool = False, keys: Sequence[str] | None = None
) -> list[Issue]:
    """Return every issue of a message: those of `Codec.validate`, and its `contradictions`.

    Args:
        data: Bytes or text, a model, or a message parsed into dictionaries and lists.
        format: Public name of the format.
        closed: Also report properties and operations that the schema does not name, and columns
            that the message does not declare.
        keys: Columns that name the row, as for `changes`.

    Raises:
        ValueError: No format has this name, or `keys` does not fit it.
    """
    return issues_of(data, format, options_of(format, keys), closed=closed)


def issues_of(data: object, format: str, options: DecodeOptions, *, closed: bool) -> list[Issue]:
    """Return what `validate` does, by options that may be those of messages of any format."""
    issues = codec(format).validate(data, closed=closed)
    if any(issue.code != _UNKNOWN for issue in issues):
        return issues  # what does not decode has no meaning
    return issues + _found(data, format, options, closed=closed)


def options_of(format: str, keys: Sequence[str] | None) -> DecodeOptions:
    """Return the options of messages whose rows have these keys."""
    return DEFAULTS if keys is None else DecodeOptions(format, keys=keys)


def contradictions(data: object, format: str, options: DecodeOptions = DEFAULTS) -> list[Issue]:
    """Return how a message, which decodes, contradicts itself; nothing if it does not."""
    return _found(data, format, options, closed=False)


def _found(data: object, format: str, options: DecodeOptions, *, closed: bool) -> list[Issue]:
    """Return the contradictions of a message that decodes, and what a closed check refuses."""
    try:
        models = codec(format).models_in(data)
    except REFUSALS:  # no bytes stand for it, or `validate` had more of the stack left
        return []
    return contradictions_of(models, options, closed=closed)


def contradictions_of(
    models: Sequence[tuple[str, Any]], options: DecodeOptions | None, *, closed: bool
) -> list[Issue]:
    """Return what is wrong with models that decode, each with its JSON Pointer in a batch."""
    found = [] if options is None else _contradictions(models, options)
    if closed:
        places = {issue.pointer for issue in found}
        found += [issue for issue in undeclared_in(models) if issue.pointer not in places]
    return found


def _contradictions(models: Iterable[tuple[str, Any]], options: DecodeOptions) -> list[Issue]:
    found: list[Issue] = []
    for at, model in models:
        try:
            change_row(model, None, options)
        except DecodeError as error:  # noqa: PERF203 - that is what is looked for
            found += [replace(issue, pointer=at + issue.pointer) for issue in error.issues]
    return found


def leniencies(data: object, format: str) -> list[str]:
    """Return the leniencies that a message needed to be decoded, and its values to be changes."""
    reader, used = codec(format), list[str]()
    with suppress(CodecError):
        for _, model in reader.models_in(data):
            used += reader.leniencies(model)
            used += change_row(model, None, DEFAULTS).attributes.get("leniencies", [])
    return used
