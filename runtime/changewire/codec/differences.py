"""Where two models differ: the place at which encoding would have rewritten a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from changewire.codec.issues import Issue
from changewire.codec.wire import write_unknown

_EXPECTED = "a value that the encoding holds as it is"


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
            return Issue(pointer + inner.pointer, inner.code, inner.rule, inner.expected, inner.actual)
    return Issue("", "not-encodable", "encode", _EXPECTED, value)


def _differences(sent: Any, received: Any, at: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield (pointer, sent value) of each leaf that differs."""
    if type(sent) is not type(received):
        yield at, sent
        return
    mine, theirs = dict(_children(sent)), dict(_children(received))
    same_keys = mine.keys() == theirs.keys() and not _has_other_keys(sent)
    if not mine or not same_keys:
        if sent != received:
            yield at, sent
        return
    for pointer, child in mine.items():
        yield from _differences(child, theirs[pointer], at + pointer)


def _children(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield (pointer, child) of a struct, a list or a dictionary."""
    if isinstance(value, msgspec.Struct):
        for i, field in enumerate(msgspec.structs.fields(value)):
            name = str(i) if value.__struct_config__.array_like else field.encode_name
            yield f"/{_token(name)}", getattr(value, field.name)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield f"/{i}", item
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"/{_token(str(key))}", item


def value_at(model: object, pointer: str) -> Any:  # noqa: ANN401 - whatever the model holds
    """Return what a model holds at a JSON Pointer; UNSET where the pointer leads nowhere."""
    if not pointer:
        return model
    for step, child in _children(model):
        if pointer == step or pointer.startswith(f"{step}/"):
            return value_at(child, pointer[len(step) :])
    return msgspec.UNSET


def _has_other_keys(value: object) -> bool:
    return isinstance(value, dict) and any(type(key) is not str for key in value)


def _token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _encodable(value: object) -> bool:
    try:
        msgspec.json.encode(value, enc_hook=write_unknown)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False
    return True

