"""What only a closed check refuses beside unknown properties: names that nothing declares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, get_args, get_type_hints

from msgspec import Struct, structs

from changewire.changes.adapters import adapter, format_of_model
from changewire.codec import Issue
from changewire.codec.family import OPEN_TAG
from changewire_messages.support import pointer_token

UNDECLARED: Final = "undeclared-column"
"""Code of a column, or of a part of a key, that the message does not declare."""

_EXPECTED: Final = "a column that the schema in the message declares"


def undeclared_in(models: Iterable[tuple[str, Any]]) -> Iterator[Issue]:
    """Yield what models name and nothing declares, each model with its JSON Pointer in a batch."""
    for at, model in models:
        found = [*_open_tags(model)]
        kind: Any = type(model)
        undeclared = adapter(format_of_model(kind)).undeclared
        if undeclared is not None and not found:  # an unknown operation may hold anything
            found += undeclared(model)
        yield from (structs.replace(issue, pointer=at + issue.pointer) for issue in found)


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
    """Return the tags of all models that a field can hold but the open one."""
    arms = get_args(get_type_hints(kind)[attribute])
    tags = [arm.__struct_config__.tag for arm in arms if issubclass(arm, Struct)]
    return [str(tag) for tag in tags if tag not in {None, OPEN_TAG}]
