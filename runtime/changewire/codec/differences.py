"""Where two models differ: the place at which encoding would have rewritten a value."""

from collections.abc import Iterator
from typing import Any, TypeGuard, cast

import msgspec

from changewire.codec.issues import Issue
from changewire.codec.wire import write_unknown
from changewire_messages.support import Extra, pointer_token

_EXPECTED = "a value that the encoding holds as it is"
_NEW_PLACE = "a place in an object of the message that has no property of this name"


def first_difference(sent: object, received: object) -> Issue:
    """Return an issue for the first place at which a decoded model is not the encoded one."""
    for pointer, value in _differences(sent, received, ""):
        return Issue(pointer, "not-encodable", "encode", _EXPECTED, value)
    return Issue("", "not-encodable", "encode", _EXPECTED, sent)


def first_unencodable(value: object) -> Issue:
    """Return an issue for the first place at which a model holds what no encoder takes."""
    for pointer, child in _children(value):
        if not _encodable(child):
            inner = first_unencodable(child)
            return msgspec.structs.replace(inner, pointer=pointer + inner.pointer)
    return Issue("", "not-encodable", "encode", _EXPECTED, value)


def misplaced(model: object) -> Issue:
    """Return an issue for the first property of ``extra`` that cannot be put back."""
    for at, message in _messages(model):
        bare = msgspec.structs.replace(message, extra=msgspec.UNSET)
        for pointer in map(str, message.extra):
            parent = value_at(bare, pointer.rpartition("/")[0])
            is_new = value_at(bare, pointer) is msgspec.UNSET
            if not (is_new and pointer and isinstance(parent, (msgspec.Struct, dict))):
                return Issue(at + pointer, "not-encodable", "extra", _NEW_PLACE)
    return Issue("", "not-encodable", "encode", _EXPECTED, model)


def as_sent(issue: Issue, model: object) -> Issue:
    """Return an issue about encoded bytes with the value that the model holds at its place."""
    value = value_at(model, issue.pointer)
    if isinstance(value, float) and value != issue.actual:
        return Issue(issue.pointer, "not-encodable", "encode", "a finite number", value)
    return Issue(issue.pointer, issue.code, issue.rule, issue.expected, value)


def value_at(model: object, pointer: str) -> Any:  # noqa: ANN401 - whatever the model holds
    """Return what a model holds at a JSON Pointer; UNSET where the pointer leads nowhere."""
    if not pointer:
        return model
    for step, child in _children(model):
        if pointer == step or pointer.startswith(f"{step}/"):
            found = value_at(child, pointer[len(step) :])
            if found is not msgspec.UNSET:
                return found
    return msgspec.UNSET


def _messages(model: object) -> Iterator[tuple[str, Any]]:
    """Yield (pointer, message) of each message that can have unknown properties."""
    for at, item in _children(model) if isinstance(model, list) else [("", model)]:
        if isinstance(getattr(item, "extra", None), Extra):
            yield at, item


def _differences(sent: Any, received: Any, at: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield (pointer, sent value) of each leaf that differs."""
    mine, theirs = dict(_children(sent)), dict(_children(received))
    if not mine or type(sent) is not type(received) or _has_other_keys(sent):
        if sent != received:
            yield at, sent
        return
    for pointer, child in mine.items():
        if pointer in theirs:
            yield from _differences(child, theirs[pointer], at + pointer)
        else:
            yield at + pointer, child


def _children(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield (pointer, child) of a struct, a list or a dictionary."""
    if isinstance(value, msgspec.Struct):
        for i, field in enumerate(msgspec.structs.fields(value)):
            child = getattr(value, field.name)
            if isinstance(child, Extra):
                yield from child.items()
            else:
                name = str(i) if value.__struct_config__.array_like else field.encode_name
                yield f"/{pointer_token(name.removeprefix('@'))}", child
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(cast("list[Any]", value)):
            yield f"/{i}", item
    elif _is_dict(value):
        for key, item in value.items():
            yield f"/{pointer_token(str(key))}", item


def _has_other_keys(value: object) -> bool:
    return _is_dict(value) and any(type(key) is not str for key in value)


def _is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


def _encodable(value: object) -> bool:
    try:
        msgspec.json.encode(value, enc_hook=write_unknown)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
