"""Contradictions within a message, which no schema of its format finds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, get_args, get_type_hints

from msgspec import UNSET, Struct, structs

from changewire.changes.adapters import adapter, change_row, format_of_model
from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.changes.sources import KeysByTable
from changewire.codec import CodecError, DecodeError, Issue, codec
from changewire.codec.family import OPEN_TAG
from changewire.codec.wire import REFUSALS, is_data
from changewire_messages.support import pointer_token

UNDECLARED: Final = "undeclared-column"
"""Code of a column, or of a part of a key, that the message does not declare."""

_EXPECTED: Final = "a column that the schema in the message declares"


def undeclared_columns(
    names: Iterable[Any], declared: Collection[Any], pointer: str, *, is_list: bool = False
) -> Iterator[Issue]:
    """Yield an issue for each name that is not declared; names are below a JSON Pointer."""
    for number, name in enumerate(names):
        if name not in declared:
            step = str(number) if is_list else pointer_token(name)
            yield Issue(f"{pointer}/{step}", UNDECLARED, "/schema", _EXPECTED, name)


def _open_tags(model: Struct) -> Iterator[Issue]:
    """Yield an issue for the tag of a model that is for all tags without one of their own."""
    for field in structs.fields(model):
        part = getattr(model, field.name)
        if isinstance(part, Struct) and part.__struct_config__.tag == OPEN_TAG:
            tag = str(part.__struct_config__.tag_field)
            expected = f"one of {', '.join(_tags(type(model), field.name))}"
            pointer = f"/{field.encode_name}/{tag}"
            yield Issue(pointer, "wrong-value", "enum", expected, str(getattr(part, tag)))


def _tags(kind: type[Struct], attribute: str) -> list[str]:
    """Return the tags of all models that a field can represent but the open one."""
    arms = get_args(get_type_hints(kind)[attribute])
    tags = [arm.__struct_config__.tag for arm in arms if issubclass(arm, Struct)]
    return [str(tag) for tag in tags if tag not in {None, OPEN_TAG}]


_UNKNOWN: Final = "unknown-property"
DEFAULTS: Final = DecodeOptions(AUTO)
"""Options of messages that say all of themselves."""


def validate(
    data: object,
    *,
    format: str,
    strict: bool = False,
    key_columns: Sequence[str] | KeysByTable | None = None,
) -> list[Issue]:
    """Return every issue of a message: those of `Codec.validate`, and its `contradictions`.

    Args:
        data: Bytes or text, a model, or a message parsed into dictionaries and lists.
        format: Public name of the format.
        strict: Also report properties and operations that the schema does not name, and columns
            that the message does not declare.
        key_columns: Columns that name the row, as for `changes`.

    Raises:
        ValueError: No format has this name, or `key_columns` does not fit it.
    """
    return issues_of(data, format, options_of(format, key_columns), strict=strict)


def issues_of(data: object, format: str, options: DecodeOptions, *, strict: bool) -> list[Issue]:
    """Return what `validate` does, by options that may be those of messages of any format."""
    reader = codec(format)
    model = reader.read_at_once(data) if is_data(data) and not strict else UNSET
    if model is not UNSET:
        return _contradictions([("", model)], options)
    issues = reader.validate(data, strict=strict)
    if any(issue.code != _UNKNOWN for issue in issues):
        return issues  # what does not decode has no meaning
    return issues + contradictions(data, format, options, strict=strict)


def options_of(format: str, key_columns: Sequence[str] | KeysByTable | None) -> DecodeOptions:
    """Return the options of messages whose rows have these keys."""
    return DEFAULTS if key_columns is None else DecodeOptions(format, key_columns=key_columns)


def contradictions(
    data: object, format: str, options: DecodeOptions = DEFAULTS, *, strict: bool = False
) -> list[Issue]:
    """Return the contradictions of a message that decodes, and what a strict check rejects."""
    try:
        models = codec(format).models_in(data)
    except REFUSALS:  # no bytes stand for it, or `validate` had more of the stack left
        return []
    return contradictions_of(models, options, strict=strict)


def contradictions_of(
    models: Sequence[tuple[str, Any]], options: DecodeOptions | None, *, strict: bool
) -> list[Issue]:
    """Return what is wrong with models that decode, each with its JSON Pointer in a batch."""
    found = [] if options is None else _contradictions(models, options)
    places = {issue.pointer for issue in found}
    for at, model in models if strict else ():
        kind: Any = type(model)
        undeclared = adapter(format_of_model(kind)).undeclared
        unnamed = [*_open_tags(model)]
        if undeclared is not None and not unnamed:  # an unknown operation may hold anything
            unnamed += undeclared(model)
        placed = (structs.replace(issue, pointer=at + issue.pointer) for issue in unnamed)
        found += [issue for issue in placed if issue.pointer not in places]
    return found


def _contradictions(models: Iterable[tuple[str, Any]], options: DecodeOptions) -> list[Issue]:
    found: list[Issue] = []
    for at, model in models:
        try:
            change_row(model, None, options)
        except DecodeError as error:  # noqa: PERF203 - that is what is looked for
            found += [structs.replace(issue, pointer=at + issue.pointer) for issue in error.issues]
    return found


def leniencies(data: object, format: str) -> list[str]:
    """Return the leniencies that a message needed to be decoded, and its values to be changes."""
    reader, used = codec(format), list[str]()
    with suppress(CodecError):
        for _, model in reader.models_in(data):
            used += reader.leniencies(model)
            used += change_row(model, None, DEFAULTS).attributes.get("leniencies", [])
    return used
