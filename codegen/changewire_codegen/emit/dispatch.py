"""``dispatch.py`` of a family in MessagePack: the model of a message, chosen before decoding."""

from __future__ import annotations

import msgspec

from changewire_codegen.emit.row_validators import (
    holds_open,
    nested_length,
    nested_row,
    row_arms,
    tuple_of,
)
from changewire_codegen.nodes import Family, Row, RowUnion
from changewire_codegen.writer import UNTYPED, Writer, module_docstring

_FIXED_ARRAY = 15
"""Most elements of an array whose header is one byte."""


def dispatch(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    union = _message(family)
    writer = Writer()
    writer(module_docstring("Choice of the model", family))
    writer(UNTYPED)
    writer("from __future__ import annotations")
    writer("from collections.abc import Mapping")
    writer("from typing import Any, Final")
    writer("import msgspec")
    writer(f"from {package}.{family.name} import models")
    writer("__all__ = ['ARMS', 'PREFIX_SIZE', 'arm_of']")
    prefixes = {} if union is None else _prefixes(union, family)
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
    _arm_of(union, family, writer)
    return writer.text()


def _message(family: Family) -> RowUnion | None:
    """Return the union of messages; None if a message is not a union of arrays."""
    definition = family.definitions.get(family.roles.get("message", ""))
    return definition if isinstance(definition, RowUnion) else None


def _prefixes(union: RowUnion, family: Family) -> dict[bytes, str]:
    """Return the arms by their first bytes, as far as these differ."""
    found: list[tuple[bytes, str]] = []
    for arm, keys in zip(row_arms(union, family), union.keys, strict=True):
        found += [(_prefix(arm, key, union, family), arm.name) for key in keys]
    size = min(len(prefix) for prefix, _ in found)
    cut = [(prefix[:size], name) for prefix, name in found]
    names: dict[bytes, set[str]] = {}
    for prefix, name in cut:
        names.setdefault(prefix, set()).add(name)
    return {prefix: name for prefix, name in cut if len(names[prefix]) == 1}


def _prefix(arm: Row, key: tuple[int, ...], union: RowUnion, family: Family) -> bytes:
    """Return how a message begins: its header, its constants, the header of the inner array."""
    prefix = _array_header(len(arm.positions))
    constants = dict(zip(union.tags, key, strict=True))
    for i in range(len(arm.positions)):
        if i in constants:
            prefix += msgspec.msgpack.encode(constants[i])
            continue
        return prefix + (
            _array_header(nested_length(arm, union, family)) if i == union.nested else b""
        )
    return prefix


def _array_header(length: int) -> bytes:
    return msgspec.msgpack.encode([None] * length)[: 1 if length <= _FIXED_ARRAY else 3]


def _arm_of(union: RowUnion | None, family: Family, writer: Writer) -> None:
    writer()
    with writer.block("def arm_of(obj: object) -> type[msgspec.Struct] | None:"):
        writer.docstring(
            "Return the model of a parsed message; None if no model has its constants.",
            "obj: The message as msgspec parses it without a type.",
        )
        if union is None:
            writer("return None")
            return
        arms = row_arms(union, family)
        too = "<" if arms[0].is_open else "!="
        writer(f"if type(obj) is not list or len(obj) {too} {len(arms[0].positions)}:")
        writer("    return None")
        tests = [f"type(obj[{i}]) is not int" for i in union.tags]
        key = [f"obj[{i}]" for i in union.tags]
        if union.nested is not None:
            tests.append(f"type(obj[{union.nested}]) is not list")
            size = f"len(obj[{union.nested}])"
            if holds_open(union, family):
                size = f"min({size}, _OPEN.get({tuple_of(key)}, {size}))"
            key.append(size)
        writer(f"if {' or '.join(tests)}:")
        writer("    return None")
        writer(f"return _BY_CONSTANTS.get({tuple_of(key)})")
    keyed = [(arm, key) for arm, own in zip(arms, union.keys, strict=True) for key in own]
    sizes = {arm.name: nested_length(arm, union, family) for arm in arms}
    writer.table(
        "_BY_CONSTANTS: Mapping[tuple[int, ...], type[msgspec.Struct]]",
        (
            ((*key, *(() if union.nested is None else (sizes[arm.name],))), f"models.{arm.name}")
            for arm, key in keyed
        ),
    )
    if holds_open(union, family):
        inner = {arm.name: nested_row(arm, union, family) for arm in arms}
        opened = {name for name, row in inner.items() if row is not None and row.is_open}
        lengths = ((key, sizes[arm.name]) for arm, key in keyed if arm.name in opened)
        writer.table("_OPEN: Mapping[tuple[int, ...], int]", lengths)
