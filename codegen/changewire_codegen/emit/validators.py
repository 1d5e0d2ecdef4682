"""``validators.py`` of a family: straight-line checks of parsed messages, with every issue."""

from __future__ import annotations

from collections.abc import Sequence

from changewire_codegen.emit.scalars import arguments, type_words
from changewire_codegen.envelopes import Flat, alone_of, flat_of
from changewire_codegen.names import escape_pointer, inner, snake
from changewire_codegen.nodes import (
    Alias,
    AnyDefinition,
    Anything,
    ArrayOf,
    Choice,
    Family,
    MapOf,
    Nullable,
    Object,
    Property,
    RefTo,
    Row,
    RowUnion,
    Scalar,
    TaggedRow,
    Type,
    Union,
    with_arms,
)
from changewire_codegen.order import arm_tag, unconstrained, without
from changewire_codegen.writer import Writer, module

_CHECKS = "check_beyond, check_unknown, has_tag, is_object, is_row, optional, required, scalar"

CHECK = "Callable[[Any, str, bool, list[Issue]], None]"
"""Type of a check: value, its JSON Pointer, whether the check is strict, where issues go."""

ARMS = f"Mapping[str, {CHECK}]"


def validators(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    writer = module(
        "Validators",
        family,
        "from msgspec import UNSET",
        f"from {package}.checks import {_CHECKS}",
        f"from {package}.flat_objects import flat_name",
        f"from {package}.support import Issue, key_token, pointer_token",
        is_untyped=True,
    )
    writer("__all__ = ['Issue', 'errors']")
    skipped = unconstrained(family) - set(family.variants.values())  # callers name the variants
    for definition in with_arms(family.definitions.values()):
        if definition.name not in skipped:
            _function(without(skipped, definition), family, writer)
    for definition in family.definitions.values():
        if isinstance(definition, Union):
            checks = ((repr(tag), f"_{snake(arm)}") for tag, arm in definition.tags.items())
            writer.table(f"_{snake(definition.name).upper()}_ARMS: {ARMS}", checks)
        if isinstance(definition, TaggedRow):
            _tag_table(definition, writer)
        if isinstance(definition, RowUnion):
            _key_table(definition, writer)
    _entry(family, writer)
    return writer.text()


def _entry(family: Family, writer: Writer) -> None:
    names = sorted(set(family.variants.values()))
    writer.table(f"_CHECKS: {ARMS}", ((repr(name), f"_{snake(name)}") for name in names))
    writer()
    default = f" = {family.roles['message']!r}" if family.roles else ""
    with writer.block(
        f"def errors(obj: object, variant: str{default}, *, strict: bool = False) -> list[Issue]:"
    ):
        writer.docstring(
            "Return every issue of a parsed message; none if it is valid.",
            "obj: The message as msgspec parses it: dictionaries, lists and scalars. "
            "variant: Title of the schema to check it against. "
            "strict: Also report properties that the schema does not name. "
            "In an issue about something that is missing, the actual value is UNSET.",
        )
        writer("issues: list[Issue] = []")
        writer('_CHECKS[variant](obj, "", strict, issues)')
        writer("return issues")


def _function(definition: AnyDefinition, family: Family, writer: Writer) -> None:
    writer()
    if isinstance(definition, Union):
        _union(definition, writer)
        return
    if isinstance(definition, TaggedRow):
        _tagged_row(definition, writer)
        return
    if isinstance(definition, RowUnion):
        _row_union(definition, writer)
        return
    with writer.block(f"def {_signature(definition.name)}:"):
        if isinstance(definition, Alias):
            _check(definition.type, "value", "at", writer)
        elif isinstance(definition, Object):
            _object(definition, family, writer)
        else:
            _row(definition, family, writer)


def _object(definition: Object, family: Family, writer: Writer) -> None:
    _refuse_type(writer)
    if definition.tag is not None and len(definition.tag.models) > 1:
        tags = tuple(definition.tag.models)
        with writer.block(f"if not has_tag(value, {definition.tag.wire!r}, {tags!r}, at, out):"):
            writer("return")
    names = tuple(prop.wire for prop in definition.properties)
    alone, flat = alone_of(definition, family), flat_of(definition, family)
    if alone is not None:  # a message that has the tag of the union, and no property of the object
        has_none = f"value.keys().isdisjoint({names!r})"
        with writer.block(f"if {alone.union.tag!r} in value and {has_none}:"):
            writer(f"_{snake(alone.union.name)}(value, at, strict, out)")
            writer("return")
    if flat is not None:
        _flat(flat, family, writer)
        return
    for prop in definition.properties:
        if definition.tag is None or prop.wire != definition.tag.wire:
            _property(prop, family, writer)
    with writer.block("if strict:"):
        writer(f"check_unknown(value, {names!r}, at, out)")


def _flat(flat: Flat, family: Family, writer: Writer) -> None:
    """Write the check of a property of any name, and of the entries of a map next to it."""
    name, kind = flat.other.wire, flat.entries.type
    writer(f"name = flat_name(value, {name!r}, {flat.needed!r})")
    with writer.block("if name in value:"):
        _check(flat.other.type, "value[name]", "at + '/' + pointer_token(name)", writer)
    with writer.block("else:"):
        _report(_below(name), "required", type_words(flat.other.type, family), "UNSET", writer)
    if isinstance(kind, MapOf) and not isinstance(kind.of, Anything):
        with writer.block("for entry, child in value.items():"), writer.block("if entry != name:"):
            _check(kind.of, "child", "at + '/' + pointer_token(entry)", writer)


def _property(prop: Property, family: Family, writer: Writer) -> None:
    """Write the check of a property, and that it exists."""
    key, at = prop.wire, _below(prop.wire)
    words = type_words(prop.type, family)
    if isinstance(prop.type, (Choice, Scalar)):
        function = "required" if prop.required else "optional"
        writer(f"{function}(value, {key!r}, {_placed(prop.type, 'at')})")
        return
    if isinstance(prop.type, Nullable) and not prop.required:
        writer(f"child = value.get({key!r})")
        _check(prop.type, "child", at, writer)
        return
    if isinstance(prop.type, Anything):
        if prop.required:
            with writer.block(f"if {key!r} not in value:"):
                _report(at, "required", words, "UNSET", writer)
        return
    with writer.block(f"if {key!r} in value:"):
        child = f"value[{key!r}]" if isinstance(prop.type, RefTo) else "child"
        if child == "child":
            writer(f"child = value[{key!r}]")
        _check(prop.type, child, at, writer)
    if prop.required:
        with writer.block("else:"):
            _report(at, "required", words, "UNSET", writer)


def _row(definition: Row, family: Family, writer: Writer) -> None:
    tag = arm_tag(definition.name, family)  # its union has checked length and tag
    if tag is None:
        _refuse_length(definition, writer)
    for i, prop in enumerate(definition.properties):
        if i == tag and not (isinstance(prop.type, Scalar) and prop.type.excluded):
            continue
        _check(prop.type, f"value[{i}]", _below(str(i)), writer)
    if definition.is_open:
        with writer.block("if strict:"):
            writer(f"check_beyond(value, {len(definition.properties)}, at, out)")


def _union(union: Union, writer: Writer) -> None:
    name = snake(union.name)
    words = "one of " + ", ".join(union.tags)
    expected = "string" if union.open_arm else words
    with writer.block(f"def {_signature(union.name)}:"):
        _refuse_type(writer)
        writer(f"tag = value.get({union.tag!r}, UNSET)")
        writer(f"check = _{name.upper()}_ARMS.get(tag) if type(tag) is str else None")
        with writer.block("if check is not None:"):
            writer("check(value, at, strict, out)")
        if union.open_arm:
            with writer.block("elif type(tag) is str:"):
                writer(f"_{snake(union.open_arm)}(value, at, strict, out)")
        with writer.block("elif tag is UNSET:"):
            _report(_below(union.tag), "required", expected, "UNSET", writer)
        with writer.block("else:"):
            _report(_below(union.tag), "oneOf", expected, "tag", writer)


def _tagged_row(row: TaggedRow, writer: Writer) -> None:
    """Write the check of an array whose tag says the contents of the other positions."""
    with writer.block(f"def {_signature(row.name)}:"):
        _refuse_length(row, writer)
        writer(f"tag = value[{row.tag}]")
        other = "" if row.open_arm is None else f", _{snake(row.open_arm.name)}"
        writer(f"check = {_table(row.name)}.get(tag{other}) if type(tag) is int else None")
        with writer.block("if check is not None:"):
            writer("check(value, at, strict, out)")
        with writer.block("else:"):
            words = _one_of([tag for tag, _ in row.by_tag])
            rule, expected = ("type", "integer") if row.open_arm else ("oneOf", words)
            _report(_below(str(row.tag)), rule, expected, "tag", writer)


def _tag_table(row: TaggedRow, writer: Writer) -> None:
    """Write the check of each tag; after all functions."""
    checks = ((tag, f"_{snake(arm.name)}") for tag, arm in row.by_tag)
    writer.table(f"{_table(row.name)}: Mapping[int, {CHECK}]", checks)


def _row_union(union: RowUnion, writer: Writer) -> None:
    """Write the check of a union whose arms differ in constants, or in an inner length."""
    with writer.block(f"def {_signature(union.name)}:"):
        _refuse_length(union.choices[0].row, writer)
        for i, known in known_constants(union).items():
            broken = f"!= {known[0]}" if len(known) == 1 else f"not in {known}"
            rule = "const" if len(known) == 1 else "oneOf"
            with writer.block(f"if type(value[{i}]) is not int or value[{i}] {broken}:"):
                _report(_below(str(i)), rule, _one_of(known), f"value[{i}]", writer)
                writer("return")
        tags = tuple_of([f"value[{i}]" for i in union.tags])
        writer(f"checks = {_table(union.name)}.get({tags}, {{}})")
        with writer.block("if not checks:"):
            _report("at", "oneOf", "constants of one variant", "value", writer)
        with writer.block("elif len(checks) == 1:"):
            writer("next(iter(checks.values()))(value, at, strict, out)")
        if union.nested is not None:
            is_open = any(arm.is_open for arm in union.choices)
            _choose_by_length(union.nested, writer, is_open=is_open)


def known_constants(union: RowUnion) -> dict[int, tuple[int, ...]]:
    """Return the constants at each position that has one in all arms, sorted."""
    keys = [key for arm in union.choices for key in arm.keys]
    columns = zip(*keys, strict=True)
    return {i: tuple(sorted({*column})) for i, column in zip(union.tags, columns, strict=True)}


def _choose_by_length(nested: int, writer: Writer, *, is_open: bool) -> None:
    """Write the choice by the length of the inner array; of open ones, the longest takes more."""
    array, at = f"value[{nested}]", _below(str(nested))
    with writer.block(f"elif type({array}) is not list:"):
        _report(at, "type", "array", array, writer)
    size = f"min(len({array}), max(checks))" if is_open else f"len({array})"
    with writer.block(f"elif {size} not in checks:"):
        writer("words = ' or '.join(map(str, sorted(checks))) + ' positions'")
        writer(f"out.append(({at}, 'prefixItems', words, {array}))")
    with writer.block("else:"):
        writer(f"checks[{size}](value, at, strict, out)")


def _key_table(union: RowUnion, writer: Writer) -> None:
    """Write the checks of each set of constants, by the length of the inner array."""
    found: dict[tuple[int, ...], list[str]] = {}
    for arm in sorted(union.choices, key=lambda arm: (arm.length, arm.row.name)):
        for key in arm.keys:
            found.setdefault(key, []).append(f"{arm.length}: _{snake(arm.row.name)}")
    checks = [(key, f"{{{', '.join(arms)}}}") for key, arms in sorted(found.items())]
    writer.table(f"{_table(union.name)}: Mapping[tuple[int, ...], Mapping[int, {CHECK}]]", checks)


def tuple_of(items: list[str]) -> str:
    """Return the expression of a tuple."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _table(name: str) -> str:
    return f"_{snake(name).upper()}_ARMS"


def _one_of(values: Sequence[int]) -> str:
    words = ", ".join(map(str, sorted(values)))
    return words if len(values) == 1 else f"one of {words}"


def _check(kind: Type, value: str, at: str, writer: Writer) -> None:
    """Write the check of one value."""
    if isinstance(kind, Anything):
        return
    if isinstance(kind, RefTo):
        writer(f"_{snake(kind.name)}({value}, {at}, strict, out)")
    elif isinstance(kind, Nullable):
        with writer.block(f"if {value} is not None:"):
            _check(kind.of, value, at, writer)
    elif isinstance(kind, ArrayOf):
        _array(kind, value, at, writer)
    elif isinstance(kind, MapOf):
        _map(kind, value, at, writer)
    else:
        writer(f"scalar({value}, {_placed(kind, at)})")


def _array(kind: ArrayOf, value: str, at: str, writer: Writer) -> None:
    with writer.block(f"if type({value}) is not list:"):
        _report(at, "type", "array", value, writer)
    for bound, rule, test in (
        (kind.min_items, "minItems", "<"),
        (kind.max_items, "maxItems", ">"),
    ):
        if bound is not None:
            with writer.block(f"elif len({value}) {test} {bound}:"):
                words = f"at {'least' if test == '<' else 'most'} {bound} elements"
                _report(at, rule, words, value, writer)
    if not isinstance(kind.of, Anything):
        n = inner(value)
        with writer.block("else:"), writer.block(f"for i{n}, item{n} in enumerate({value}):"):
            _check(kind.of, f"item{n}", f"{at} + f'/{{i{n}}}'", writer)


def _map(kind: MapOf, value: str, at: str, writer: Writer) -> None:
    with writer.block(f"if type({value}) is not dict:"):
        _report(at, "type", "object", value, writer)
    if not isinstance(kind.of, Anything):
        n = inner(value)
        token = "key_token" if kind.any_keys else "pointer_token"
        with writer.block("else:"), writer.block(f"for name{n}, item{n} in {value}.items():"):
            _check(kind.of, f"item{n}", f"{at} + '/' + {token}(name{n})", writer)


def _placed(kind: Scalar | Choice, at: str) -> str:
    """Return the arguments of a check: words, place and issues, rules."""
    words, *rules = arguments(kind).partition(", ")
    return f"{words}, {at}, out{''.join(rules)}"


def _signature(name: str) -> str:
    """Return the signature of the check of a definition."""
    return f"_{snake(name)}(value: Any, at: str, strict: bool, out: list[Issue]) -> None"


def _report(pointer: str, rule: str, expected: str, actual: str, writer: Writer) -> None:
    """Write the line that adds an issue; ``pointer`` and ``actual`` are expressions."""
    writer(f"out.append(({pointer}, {rule!r}, {expected!r}, {actual}))")


def _below(name: str) -> str:
    """Return the expression of the pointer to a child."""
    return f"at + {'/' + escape_pointer(name)!r}"


def _refuse_type(writer: Writer) -> None:
    """Write the check that the value is an object."""
    with writer.block("if not is_object(value, at, out):"):
        writer("return")


def _refuse_length(row: Row, writer: Writer) -> None:
    """Write the check that the value is an array with as many positions as another."""
    is_open = ", is_open=True" if row.is_open else ""
    with writer.block(f"if not is_row(value, {len(row.properties)}, at, out{is_open}):"):
        writer("return")
