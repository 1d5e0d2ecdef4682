"""``extras.py`` of a family: what a strict model cannot hold, taken out and put back.

A struct refuses properties and tags that it does not know. A message with such is rewritten before
it becomes a model: unknown properties move below ``@extra``, an unknown tag below ``@`` and its
name. Encoding goes the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from changewire_codegen.alone import alone_property, alone_test, alone_union
from changewire_codegen.names import inner, snake
from changewire_codegen.nodes import (
    OPEN_TAG,
    Alias,
    AnyDefinition,
    ArrayOf,
    Family,
    MapOf,
    Nullable,
    Object,
    Property,
    RefTo,
    Row,
    RowUnion,
    Type,
    Union,
    by_shape,
)
from changewire_codegen.order import has_extra, held_by_messages, held_type, references
from changewire_codegen.writer import UNTYPED, Writer, module_docstring

Definition = AnyDefinition
ARMS = {
    "take": "Mapping[str, Callable[[Any, Path, dict[str, Any]], None]]",
    "put": "Mapping[str, Callable[[Any], None]]",
}


def extras(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    family = by_shape(family)
    held = held_by_messages(family)
    takes = _reaching(family, _is_open) & held
    puts = _reaching(family, lambda definition: _is_put_back(definition, family)) & held
    writer = Writer()
    writer(module_docstring("Unknown properties and tags", family))
    writer(UNTYPED)
    writer("from __future__ import annotations")
    writer("from collections.abc import Callable, Mapping")
    writer("from typing import Any")
    names = "Path, as_text, insert, take_beyond, take_unknown, unwrap, wrap"
    writer(f"from {package}.support import {names}")
    for definition in family.definitions.values():
        if definition.name in takes:
            _take(definition, family, takes, writer)
        if definition.name in puts:
            _put(definition, family, puts, writer)
    for definition in family.definitions.values():
        if isinstance(definition, Union) and definition.name in takes:
            _arms(definition, "take", takes, writer)
            _arms(definition, "put", puts, writer)
    _entry(family, {"take": takes, "put": puts}, writer)
    return writer.text()


def _reaching(family: Family, start: Callable[[Definition], bool]) -> set[str]:
    """Return the definitions that are such, or hold such at any depth.

    The reader of messages that are arrays chooses the arm itself, and does so in a batch.
    """
    found: set[str] = set()
    while True:
        more = {
            name
            for name, definition in family.definitions.items()
            if not isinstance(definition, RowUnion)
            and (start(definition) or any(other in found for other in references(definition)))
        }
        if more == found:
            return found
        found = more


def _is_open(definition: Definition) -> bool:
    """Return whether a definition itself may hold more than its schema names."""
    return isinstance(definition, Object) or (isinstance(definition, Row) and definition.is_open)


def _is_put_back(definition: Definition, family: Family) -> bool:
    """Return whether encoding has something to put back into an object or array itself."""
    if isinstance(definition, Row):
        return has_extra(definition, family)
    if not isinstance(definition, Object):
        return False
    is_open = definition.tag is not None and definition.tag.value is None
    return is_open or has_extra(definition, family)


def _entry(family: Family, names: Mapping[str, set[str]], writer: Writer) -> None:
    roots = set(family.roles.values() or family.variants.values())
    for definition in [family.definitions[name] for name in roots]:
        if isinstance(definition, RowUnion):
            roots |= {*definition.arms}
    for verb in ("take", "put"):
        writer()
        with writer.block(f"_{verb.upper()}: {ARMS[verb]} = {{"):
            for name in sorted(roots & names[verb]):
                writer(f"{name!r}: _{verb}_{snake(name)},")
        writer("}")
    writer()
    with writer.block("def take_out(obj: object, variant: str) -> None:"):
        writer.docstring(
            "Move what a model of the variant does not know to where it is kept, in place.",
            "obj: A parsed message. Where it is not valid, any exception may be raised.",
        )
        with writer.block("if variant in _TAKE:"):
            writer("_TAKE[variant](obj, (), {})")
    writer()
    with writer.block("def put_back(obj: object, variant: str) -> None:"):
        writer.docstring(
            "Undo `take_out`, in place.",
            "Raises KeyError, IndexError, TypeError or ValueError where a pointer of `extra` "
            "leads nowhere.",
        )
        with writer.block("if variant in _PUT:"):
            writer("_PUT[variant](obj)")


def _take(definition: Definition, family: Family, names: set[str], writer: Writer) -> None:
    name = snake(definition.name)
    head = f"def _take_{name}(value: Any, at: Path, extra: dict[str, Any]) -> None"
    writer()
    if isinstance(definition, Union):
        with writer.block(f"{head}:"):
            arms = f"_TAKE_{name.upper()}_ARMS"
            tag = f"value[{definition.tag!r}]"
            if definition.open_arm is None:
                writer(f"{arms}[{tag}](value, at, extra)")
            else:
                other = f"_take_{snake(definition.open_arm)}"
                writer(f"{arms}.get({tag}, {other})(value, at, extra)")
        return
    with writer.block(f"{head}:"):
        if isinstance(definition, Row):
            _take_row(definition, family, names, writer)
            return
        if not isinstance(definition, Object):
            _walk_all(definition, names, writer, "take")
            return
        own = has_extra(definition, family)
        if own:
            writer("at, extra = (), {}")
        union, alone = alone_union(definition, family), alone_property(definition)
        if union is not None and alone is not None:
            with writer.block(f"if {alone_test(definition, union, 'value')}:"):
                writer(f"_take_{snake(union.name)}(value, at, extra)")
                writer(f"wrap(value, {alone.wire!r}, extra)")
                writer("return")
        wires = tuple(prop.wire for prop in definition.properties)
        required = sum(prop.required for prop in definition.properties)
        with writer.block(f"if len(value) > {required}:"):
            writer(f"take_unknown(value, {wires!r}, at, extra)")
        _walk_all(definition, names, writer, "take")
        if definition.tag is not None and definition.tag.value is None:
            wire = definition.tag.wire
            writer(f"value[{'@' + wire!r}], value[{wire!r}] = value[{wire!r}], {OPEN_TAG!r}")
        if own:
            with writer.block("if extra:"):
                writer('value["@extra"] = extra')


def _take_row(row: Row, family: Family, names: set[str], writer: Writer) -> None:
    own = has_extra(row, family)
    if own:
        writer("at, extra = (), {}")
    if row.is_open:
        with writer.block(f"if len(value) > {len(row.positions)}:"):
            writer(f"take_beyond(value, {len(row.positions)}, at, extra)")
    _walk_all(row, names, writer, "take")
    if own:
        with writer.block("if extra:"):
            writer("value.append(extra)")


def _put(definition: Definition, family: Family, names: set[str], writer: Writer) -> None:
    writer()
    if isinstance(definition, Union):
        name = snake(definition.name)
        with writer.block(f"def _put_{name}(value: Any) -> None:"):
            writer(f"put = _PUT_{name.upper()}_ARMS.get(value[{definition.tag!r}])")
            with writer.block("if put is not None:"):
                writer("put(value)")
        return
    with writer.block(f"def _put_{snake(definition.name)}(value: Any) -> None:"):
        _walk_all(definition, names, writer, "put")
        if isinstance(definition, Row) and has_extra(definition, family):
            with writer.block("for pointer, extra in (value.pop() or {}).items():"):
                writer("insert(value, pointer, extra)")
        if not isinstance(definition, Object):
            return
        if definition.tag is not None and definition.tag.value is None:
            wire = definition.tag.wire
            writer(f"value[{wire!r}] = value.pop({'@' + wire!r})")
        if alone_property(definition) is not None:
            writer("unwrap(value)")
        if has_extra(definition, family):
            with writer.block('for pointer, extra in value.pop("@extra", {}).items():'):
                writer("insert(value, pointer, extra)")


def _arms(union: Union, verb: str, names: set[str], writer: Writer) -> None:
    """Write the function of each tag; after all functions, which may call each other."""
    writer()
    with writer.block(f"_{verb.upper()}_{snake(union.name).upper()}_ARMS: {ARMS[verb]} = {{"):
        for arm, tag in zip(union.arms, union.tags, strict=True):
            if tag is None and verb == "take":
                continue
            if arm in names:
                writer(f"{tag or OPEN_TAG!r}: _{verb}_{snake(arm)},")
    writer("}")


def _walk_all(definition: Definition, names: set[str], writer: Writer, verb: str) -> None:
    if isinstance(definition, Alias):
        _walk(definition.type, ("value", "at"), names, verb, writer)
    elif isinstance(definition, Row):
        for i, position in enumerate(definition.positions):
            _walk(position.type, (f"value[{i}]", f"(at, '{i}')"), names, verb, writer)
    elif isinstance(definition, Object):
        for prop in definition.properties:
            if prop.repeated:
                _keep_text(prop, verb, writer)
                continue
            kind = held_type(prop)
            expression = f"value[{prop.wire!r}]" if prop.required else f"value.get({prop.wire!r})"
            at = f"(at, {prop.wire!r})"
            _walk(kind, (expression, at), names, verb, writer)


def _keep_text(prop: Property, verb: str, writer: Writer) -> None:
    """Write back a value of which the model holds the text; what it does not know stays there."""
    if verb == "put":
        return
    with writer.block(f"if {prop.wire!r} in value:"):
        writer(f"value[{prop.wire!r}] = as_text(value[{prop.wire!r}])")


def _walk(kind: Type, where: tuple[str, str], names: set[str], verb: str, writer: Writer) -> None:
    """Go on into a value, where there is something to do below it."""
    value, at = where
    if not any(name in names for name in references(Alias("", "", "", "", kind))):
        return
    if isinstance(kind, RefTo):
        arguments = f"{value}, {at}, extra" if verb == "take" else value
        writer(f"_{verb}_{snake(kind.name)}({arguments})")
    elif isinstance(kind, Nullable):
        with writer.block(f"if {value} is not None:"):
            _walk(kind.of, where, names, verb, writer)
    elif isinstance(kind, ArrayOf):
        n = inner(value)
        loop = f"for i{n}, item{n} in enumerate({value}):"
        with writer.block(loop if verb == "take" else f"for item{n} in {value}:"):
            _walk(kind.items, (f"item{n}", f"({at}, i{n})"), names, verb, writer)
    elif isinstance(kind, MapOf):
        n = inner(value)
        loop = f"for name{n}, item{n} in {value}.items():"
        with writer.block(loop if verb == "take" else f"for item{n} in {value}.values():"):
            _walk(kind.values, (f"item{n}", f"({at}, name{n})"), names, verb, writer)
