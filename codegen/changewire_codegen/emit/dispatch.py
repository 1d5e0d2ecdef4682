"""``dispatch.py`` of a family in MessagePack: the model of a message, chosen before decoding."""

from __future__ import annotations

import msgspec

from changewire_codegen.emit.validators import tuple_of
from changewire_codegen.nodes import Family, RowArm, RowUnion
from changewire_codegen.writer import Writer, module

_FIXED_ARRAY = 15
"""Most elements of an array whose header is one byte."""


def dispatch(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    found = family.definitions.get(family.roles.get("message", ""))
    union = found if isinstance(found, RowUnion) else None
    models = f"from {package}.{family.name} import models"
    writer = module("Choice of the model", family, models, is_untyped=True)
    writer("__all__ = ['ARMS', 'PREFIX_SIZE', 'arm_of']")
    prefixes = {} if union is None else _prefixes(union)
    writer(f"PREFIX_SIZE: Final = {len(next(iter(prefixes), b''))}")
    writer.docstring("Length of the keys of `ARMS`, in bytes.")
    with writer.block("ARMS: Final[Mapping[bytes, type[msgspec.Struct]]] = {"):
        for prefix, name in sorted(prefixes.items()):
            writer(f"{prefix!r}: models.{name},")
    writer("}")
    writer.docstring(
        "Model of a message by its first bytes, where these are written as short as can be.",
        "A message of other first bytes may be one all the same: an integer or the length of an "
        "array has longer forms. `arm_of` knows.",
    )
    _arm_of(union, writer)
    return writer.text()


def _prefixes(union: RowUnion) -> dict[bytes, str]:
    """Return the arms by their first bytes, as far as these differ."""
    found = [(_prefix(arm, key, union), arm.row.name) for arm in union.choices for key in arm.keys]
    size = min(len(prefix) for prefix, _ in found)
    cut = [(prefix[:size], name) for prefix, name in found]
    names: dict[bytes, set[str]] = {}
    for prefix, name in cut:
        names.setdefault(prefix, set()).add(name)
    return {prefix: name for prefix, name in cut if len(names[prefix]) == 1}


def _prefix(arm: RowArm, key: tuple[int, ...], union: RowUnion) -> bytes:
    """Return how a message begins: its header, its constants, the header of the inner array."""
    prefix = _array_header(len(arm.row.properties))
    constants = dict(zip(union.tags, key, strict=True))
    for i in range(len(arm.row.properties)):
        if i not in constants:
            return prefix + (_array_header(arm.length) if i == union.nested else b"")
        prefix += msgspec.msgpack.encode(constants[i])
    return prefix


def _array_header(length: int) -> bytes:
    return msgspec.msgpack.encode([None] * length)[: 1 if length <= _FIXED_ARRAY else 3]


def _arm_of(union: RowUnion | None, writer: Writer) -> None:
    writer()
    with writer.block("def arm_of(obj: object) -> type[msgspec.Struct] | None:"):
        writer.docstring(
            "Return the model of a parsed message; None if no model has its constants.",
            "obj: The message as msgspec parses it without a type.",
        )
        if union is None:
            writer("return None")
            return
        row, opened = union.choices[0].row, [arm for arm in union.choices if arm.is_open]
        writer(
            f"if type(obj) is not list or len(obj) {'<' if row.is_open else '!='} "
            f"{len(row.properties)}:"
        )
        writer("    return None")
        tests = [f"type(obj[{i}]) is not int" for i in union.tags]
        key = [f"obj[{i}]" for i in union.tags]
        if union.nested is not None:
            tests.append(f"type(obj[{union.nested}]) is not list")
            size = f"len(obj[{union.nested}])"
            key.append(f"min({size}, _OPEN.get({tuple_of(key)}, {size}))" if opened else size)
        writer(f"if {' or '.join(tests)}:")
        writer("    return None")
        writer(f"return _BY_CONSTANTS.get({tuple_of(key)})")
    arms = [(arm, () if union.nested is None else (arm.length,)) for arm in union.choices]
    models = (((*k, *size), f"models.{arm.row.name}") for arm, size in arms for k in arm.keys)
    writer.table("_BY_CONSTANTS: Mapping[tuple[int, ...], type[msgspec.Struct]]", models)
    if opened:
        lengths = ((key, arm.length) for arm in opened for key in arm.keys)
        writer.table("_OPEN: Mapping[tuple[int, ...], int]", lengths)
