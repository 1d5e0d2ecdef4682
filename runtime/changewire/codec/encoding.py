"""Messages that one step cannot encode: written exactly, or rejected with all that is wrong."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, TypeGuard, cast

import msgspec
from msgspec import structs

from changewire.codec.family import GeneratedFamily
from changewire.codec.issues import DecodeError, EncodeError, Issue
from changewire.codec.places import Flat, flat_of, name_beside, steps_of
from changewire.codec.wire import REFUSALS, Wire, too_deep
from changewire_messages.support import Alone, Extra, key_token

_EXPECTED = "a value that the encoding represents exactly"
_DIGITS = 20  # more than indices have; Python refuses to read thousands
_NEW_PLACE = "a new property of an object of the message, or the next position of an array"


def first_difference(sent: object, received: object) -> Issue | None:
    """Return an issue for the first place at which a decoded model is not the encoded one."""
    for pointer, value in _differences(sent, received, ""):
        return Issue(pointer, "not-encodable", "encode", _EXPECTED, value)
    return None


def first_unencodable(value: object, holds: Callable[[object], bool]) -> Issue:
    """Return an issue for the first place at which a model has a value that the encoding lacks."""
    for pointer, child in _children(value):
        if not holds(child):
            inner = first_unencodable(child, holds)
            return msgspec.structs.replace(inner, pointer=pointer + inner.pointer)
    return Issue("", "not-encodable", "encode", _EXPECTED, value)


def misplaced(model: object) -> list[Issue]:
    """Return an issue for each value of ``extra`` that cannot be put back."""
    return [
        Issue(at + pointer, "not-encodable", "extra", _NEW_PLACE)
        for at, message in _messages(model)
        for pointer in _misplaced(message)
    ]


def misshapen(model: object) -> list[Issue]:
    """Return an issue for each message whose map entries cannot be inlined."""
    found: list[Issue] = []
    for at, message in _children(model) if isinstance(model, list) else [("", model)]:
        kind: Any = type(message)
        flat = flat_of(kind)
        if flat is not None:
            found += [structs.replace(i, pointer=at + i.pointer) for i in _misshapen(message, flat)]
    return found


def _misshapen(message: Any, flat: Flat) -> Iterator[Issue]:
    name: Any = name_beside(message, flat)
    entries = _entries(message, flat[1])
    if not isinstance(name, str) or message.named == flat[0]:
        expected = f"text that is another name than {flat[0]}"
        yield Issue("/named", "not-encodable", "encode", expected, message.named)
    elif not _is_dict(entries):
        yield Issue(f"/{key_token(flat[1])}", "wrong-type", "type", "object", entries)
    elif name in entries:
        expected = f"an entry that is not called as `{flat[0]}` is on the wire"
        pointer = f"/{key_token(name)}"
        yield Issue(pointer, "not-encodable", "encode", expected, entries[name])
    else:
        expected = "text as the name of an entry"  # the encoding would make text of it
        for other in entries:
            if not isinstance(other, str):
                yield Issue(f"/{key_token(other)}", "not-encodable", "encode", expected, other)


def _entries(message: Any, name: str) -> Any:
    kind: Any = type(message)
    return next(getattr(message, field) for field, step in steps_of(kind).items() if step == name)


def _misplaced(message: Any) -> Iterator[str]:
    kind: Any = type(message)
    is_flat = flat_of(kind) is not None
    known = msgspec.structs.replace(message, extra=msgspec.UNSET)
    ends: dict[str, int] = {}
    for pointer in map(str, message.extra):
        at_root = pointer.count("/") == 1
        if (is_flat and at_root) or not _is_new_place(known, pointer, ends):
            yield pointer


def as_sent(issue: Issue, model: object) -> Issue:
    """Return an issue about encoded bytes with the value that the model has at its place."""
    value = value_at(model, issue.pointer)
    if isinstance(value, float) and not _same(value, issue.actual):
        return Issue(issue.pointer, "not-encodable", "encode", "a finite number", value)
    return Issue(issue.pointer, issue.code, issue.rule, issue.expected, value)


def value_at(model: object, pointer: str) -> Any:
    """Return the value of a model at a JSON Pointer; UNSET if the pointer leads nowhere."""
    while pointer and isinstance(model, (list, tuple)):  # no look at each: there may be many
        items = cast("list[Any]", model)
        token, slash, rest = pointer[1:].partition("/")
        index = int(token) if token.isdecimal() and len(token) < _DIGITS else len(items)
        if index >= len(items) or str(index) != token:
            return msgspec.UNSET
        model, pointer = items[index], slash + rest
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


def _is_new_place(message: msgspec.Struct, pointer: str, ends: dict[str, int]) -> bool:
    """Return whether a pointer names what an object or array of a message does not have yet."""
    before, slash, last = pointer.rpartition("/")
    parent = value_at(message, before)
    if not slash or not isinstance(parent, msgspec.Struct):
        return False
    kind: Any = type(parent)
    if not kind.__struct_config__.array_like:
        return value_at(message, pointer) is msgspec.UNSET
    if not message.__struct_config__.array_like:
        return False
    end = ends.get(before, len(steps_of(kind)))
    ends[before] = end + 1
    return last == str(end)


def _differences(sent: Any, received: Any, at: str) -> Iterator[tuple[str, Any]]:
    """Yield (pointer, sent value) of each leaf that differs."""
    mine, theirs = list(_children(sent)), dict(_children(received))
    if not mine or type(sent) is not type(received) or not _same_keys(sent, received):
        if not _same(sent, received):
            yield at, sent
        return
    for pointer, child in mine:
        if pointer in theirs:
            yield from _differences(child, theirs[pointer], at + pointer)
        else:
            yield at + pointer, child
    if len(mine) < len(theirs):
        yield at, sent


def _same(one: Any, other: Any) -> bool:
    """Return whether two leaves are equal; not-a-number is, which MessagePack can represent."""
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - that is NaN


def _same_keys(sent: Any, received: Any) -> bool:
    """Return whether dictionaries have keys of the same types: JSON would make text of numbers."""
    if not _is_dict(sent):
        return True
    return [(type(k), key_token(k)) for k in sent] == [(type(k), key_token(k)) for k in received]


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (pointer, child) of a struct, a list or a dictionary."""
    if isinstance(value, msgspec.Struct):
        yield from _fields(value)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(cast("list[Any]", value)):
            yield f"/{i}", item
    elif _is_dict(value):
        for key, item in value.items():
            yield f"/{key_token(key)}", item


def _fields(value: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """Yield (pointer, value) of the fields of a struct on the wire."""
    alone = getattr(value, "alone", msgspec.UNSET)
    if isinstance(alone, Alone) and isinstance(getattr(value, alone), msgspec.Struct):
        yield from _fields(getattr(value, alone))
        value = msgspec.structs.replace(value, **{alone: msgspec.UNSET, "alone": msgspec.UNSET})
    kind: Any = type(value)
    flat = flat_of(kind)
    if flat is not None:
        yield from _flat_fields(value, flat)
        return
    tag, steps = _layout(kind)
    found = dict(tag)
    for name, step in steps:
        child = getattr(value, name)
        if child is not msgspec.UNSET:
            found[step] = child
    extra = getattr(value, "extra", msgspec.UNSET)
    if isinstance(extra, Extra):
        found.update(extra)
    elif extra is not msgspec.UNSET:
        found["/extra"] = extra
    yield from found.items()


def _flat_fields(value: Any, flat: Flat) -> Iterator[tuple[str, Any]]:
    """Yield what `_fields` does, of a message with inlined map entries."""
    named, entries = value.named, _entries(value, flat[1])
    is_name = named is msgspec.UNSET or (isinstance(named, str) and named != flat[0])
    if not is_name:
        yield "/named", named
    name = name_beside(value, flat) if is_name else flat[0]
    yield f"/{key_token(name)}", _entries(value, flat[0])
    if _is_dict(entries):
        yield from _children(entries)
    else:
        yield f"/{key_token(flat[1])}", entries
    extra = value.extra
    if isinstance(extra, Extra):
        yield from extra.items()
    elif extra is not msgspec.UNSET:
        yield "/extra", extra


@cache
def _layout(kind: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the tag of a struct by its pointer, and (name, pointer) of each field."""
    config = kind.__struct_config__
    tag = {f"/{config.tag_field}": config.tag} if config.tag_field else {}
    return tag, [(name, f"/{key_token(step)}") for name, step in steps_of(kind).items()]


def _is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


def encode_exactly(
    model: object,
    role: str,
    family: GeneratedFamily,
    wire: Wire,
    model_of: Callable[[Any, str, bytes], Any],
) -> bytes:
    """Return the bytes of a model, or of a list, if they are decoded to the model."""
    try:
        return _encoded(model, role, family, wire, model_of)
    except RecursionError:
        raise EncodeError(family.format, [too_deep(wire.rule)]) from None


def _encoded(
    model: object,
    role: str,
    family: GeneratedFamily,
    wire: Wire,
    model_of: Callable[[Any, str, bytes], Any],
) -> bytes:
    try:
        encoded = wire.write_all(model)
        obj = wire.parse(encoded)
    except REFUSALS:
        raise EncodeError(family.format, [first_unencodable(model, wire.holds)]) from None
    issues = [*misplaced(model), *misshapen(model)]
    if not issues:
        with suppress(*REFUSALS):  # of a value of the wrong shape, which errors() reports
            family.put_back(obj, role, model)
        issues = [as_sent(issue, model) for issue in family.errors(obj, role)]
    if issues:
        raise EncodeError(family.format, issues)
    if isinstance(obj, dict):
        obj.update(wire.texts(encoded))
    data = wire.write(obj)
    try:
        received = model_of(obj, role, data)
    except DecodeError as error:
        raise EncodeError(family.format, [as_sent(i, model) for i in error.issues]) from None
    difference = first_difference(model, received)
    if difference is not None:
        raise EncodeError(family.format, [difference])
    return data


def write_parsed(obj: object, family: GeneratedFamily, wire: Wire) -> bytes:
    """Return the bytes of a parsed message, key or batch, which need not be a valid one.

    They are parsed again before they are returned: a reader gets equal values, of the types that
    parsers give. So text differs from bytes, and a tuple from a list.
    """
    try:
        data = wire.write(obj)
        if wire.read_back(data) == obj:
            return data
        difference = first_difference(obj, wire.parse(data))
        if difference is None:  # not-a-number, or a decimal
            return data
        issues = [difference]
    except DecodeError as error:
        issues = error.issues
    except RecursionError:
        issues = [too_deep(wire.rule)]
    except REFUSALS:
        issues = [_unencodable(obj, wire)]
    raise EncodeError(family.format, issues)


def _unencodable(obj: object, wire: Wire) -> Issue:
    """Return the issue of a parsed message that cannot be written, and that may contain itself."""
    try:
        return first_unencodable(obj, wire.holds)
    except RecursionError:
        return too_deep(wire.rule)
