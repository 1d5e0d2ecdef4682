"""``leniencies.py`` of a family: which named leniencies a model makes use of."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.emit.boolean import ALWAYS, Test, compare, every
from changewire_codegen.emit.conditions import build_condition
from changewire_codegen.emit.views import View, is_open_tag, is_set
from changewire_codegen.envelopes import MISSING_ENVELOPE, alone_of
from changewire_codegen.names import inner, snake
from changewire_codegen.nodes import (
    Alias,
    AnyDefinition,
    ArrayOf,
    Family,
    Holder,
    Nullable,
    Property,
    Record,
    RefTo,
    Row,
    TaggedRow,
    Type,
    Union,
    children,
    class_names,
    names_in,
    with_arms,
)
from changewire_codegen.order import has_extra, held_type, reached, references
from changewire_codegen.writer import Writer, module

Lenient = Mapping[str, AnyDefinition]
"""The definitions below which a leniency may be used, by name."""

UNKNOWN_PROPERTY = "unknown-property"
_CHECK = "Callable[[Any, list[str]], None]"


def leniencies(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    own = {
        name
        for name, definition in family.definitions.items()
        if has_extra(definition, family) or any(map(_is_lenient, with_arms([definition])))
    }
    lenient = {n: d for n, d in family.definitions.items() if own & reached([n], family)}
    writer = module(
        "Leniencies",
        family,
        "from msgspec import UNSET",
        f"from {package}.{family.name} import models",
        f"from {package}.support import OpenTag, as_binary64, by_text",
        is_untyped=True,
    )
    names = family.variants.values()
    roots = [name for name in names if isinstance(lenient.get(name), Record)]
    below = reached(roots, family, lambda one: (n for n in references(one) if n in lenient))
    called = [definition for name, definition in family.definitions.items() if name in below]
    for definition in called:
        if isinstance(definition, TaggedRow):
            _tagged_row(definition, family, lenient, writer)
        elif not isinstance(definition, Union):
            _function(definition, family, lenient, writer)
    for definition in called:
        if isinstance(definition, Union | TaggedRow):
            _arms(definition, lenient, writer)
    for definition in called:
        _texts(definition, lenient, writer)
    _entry(roots, family, writer)
    return writer.text()


def _entry(roots: list[str], family: Family, writer: Writer) -> None:
    models = [(m, name) for name in sorted(roots) for m in class_names(family.definitions[name])]
    checks = ((f"models.{model}", f"_{snake(name)}") for model, name in models)
    writer.table(f"_CHECKS: Mapping[type, {_CHECK}]", checks)
    writer()
    with writer.block("def leniencies(message: object) -> list[str]:"):
        about = "Return the names of the leniencies that a message needed, once for each use."
        word = "properties" if family.encoding == "json" else "positions"
        extra = f"`{UNKNOWN_PROPERTY}` counts the {word} in `extra`."
        has = any(has_extra(definition, family) for definition in family.definitions.values())
        writer.docstring(about, *([extra] if has else []))
        writer("used: list[str] = []")
        writer("check = _CHECKS.get(type(message))")
        with writer.block("if check is not None:"):
            writer("check(message, used)")
        writer("return used")


def _tagged_row(row: TaggedRow, family: Family, lenient: Lenient, writer: Writer) -> None:
    """Write a function for each arm that needs one, and the one that chooses."""
    chosen = _chosen_arms(row, lenient)
    for arm in {arm.name: arm for arm in chosen.values()}.values():
        _function(arm, family, lenient, writer, model=row.name)
    writer()
    with writer.block(f"def _{snake(row.name)}(value: Any, used: list[str]) -> None:"):
        tag = f"value.{row.properties[row.tag].name}"
        table = f"_{snake(row.name).upper()}_ARMS"
        opened = chosen.get(row.open_arm.name) if row.open_arm else None
        if opened is not None and len(chosen) == len(row.arms):
            writer(f"{table}.get({tag}, _{snake(opened.name)})(value, used)")
            return
        other = f", _{snake(opened.name)}" if opened is not None else ""
        writer(f"check = {table}.get({tag}{other})")
        with writer.block("if check is not None:"):
            writer("check(value, used)")


def _is_lenient(definition: AnyDefinition) -> bool:
    """Return whether a definition itself, or one of its children, has a leniency."""
    own = isinstance(definition, Record) and definition.leniencies
    return bool(own) or any(prop.leniencies for prop in children(definition))


def _chosen_arms(row: TaggedRow, lenient: Mapping[str, AnyDefinition]) -> dict[str, Row]:
    """Return for each arm below which a leniency may be used the first one that has the same."""
    first: dict[str, Row] = {}
    chosen: dict[str, Row] = {}
    for arm in row.arms:
        below = [name for name in references(arm) if name in lenient]
        if below or _is_lenient(arm):
            same = repr((arm.leniencies, [p.leniencies for p in arm.properties]))
            chosen[arm.name] = first.setdefault(arm.name if below else same, arm)
    return chosen


def _function(
    definition: AnyDefinition,
    family: Family,
    lenient: Lenient,
    writer: Writer,
    *,
    model: str | None = None,
) -> None:
    """Write the function of a definition, which may be part of another model."""
    writer()
    with writer.block(f"def _{snake(definition.name)}(value: Any, used: list[str]) -> None:"):
        if isinstance(definition, Alias):
            _walk(definition.type, "value", lenient, writer)
            return
        if isinstance(definition, Record):
            place = (definition.file, definition.pointer)
            view = View(RefTo(model or definition.name), family, place)
            for name, condition in definition.leniencies.items():
                _use(name, build_condition(condition, "value", view), writer)
            if alone_of(definition, family) is not None:
                _use(MISSING_ENVELOPE, compare("value.alone", "is not", "UNSET"), writer)
            if has_extra(definition, family):
                _use(UNKNOWN_PROPERTY, compare("value.extra", "is not", "UNSET"), writer)
        for prop in children(definition):
            expression = f"value.{prop.name}"
            place = (definition.file, prop.pointer)
            view = View(prop.type, family, place, is_open_tag=is_open_tag(prop, definition))
            for name, condition in prop.leniencies.items():
                asked = build_condition(condition, expression, view)
                _use(name, every(is_set(prop, "value"), asked), writer)
            if prop.repeated and _is_below(prop.type, lenient):
                _count_text(definition, prop, writer)
            else:
                _walk(held_type(prop), expression, lenient, writer)


def _count_text(definition: AnyDefinition, prop: Property, writer: Writer) -> None:
    """Count what a repeated property needed, which is known of a text that was met before."""
    text = f"value.{prop.attribute}"
    use = f"used += {_text_reader(definition, prop)}({text})"
    if prop.required:
        writer(use)
        return
    with writer.block(f"if {text} is not UNSET:"):
        writer(use)


def _text_reader(definition: AnyDefinition, prop: Property) -> str:
    return f"_{snake(definition.name)}_{prop.name}_uses"


def _texts(definition: AnyDefinition, lenient: Lenient, writer: Writer) -> None:
    """Write what counts for the text of each repeated property; after all functions."""
    for prop in children(definition):
        kind = held_type(prop)
        if not prop.repeated or not _is_below(kind, lenient):
            continue
        name = _text_reader(definition, prop)
        hint = f"models.{names_in(kind)[0]}" + (" | None" if isinstance(kind, Nullable) else "")
        writer()
        with writer.block(f"def {name}_in(text: bytes) -> list[str]:"):
            writer("used: list[str] = []")
            writer(f"value: Any = msgspec.json.decode(text, type={hint})")
            _walk(kind, "value", lenient, writer)
            writer("return used")
        writer()
        writer(f"{name}: Callable[[msgspec.Raw], list[str]] = by_text({name}_in)")


def _use(name: str, test: Test, writer: Writer) -> None:
    if test == ALWAYS:
        writer(f"used.append({name!r})")
        return
    with writer.block(f"if {test.text}:"):
        writer(f"used.append({name!r})")


def _arms(union: Union | TaggedRow, lenient: Lenient, writer: Writer) -> None:
    """Write the function of each arm; after all functions, which may call each other."""
    if isinstance(union, Union):
        kind, arms = "type", [arm for arm in union.arms if arm in lenient]
        named = [(f"models.{model}", arm) for arm in arms for model in class_names(lenient[arm])]
    else:
        kind, chosen = "int", _chosen_arms(union, lenient)
        tags = [(tag, chosen.get(arm.name)) for tag, arm in union.by_tag]
        named = [(str(tag), arm.name) for tag, arm in tags if arm is not None]
    checks = ((key, f"_{snake(arm)}") for key, arm in named)
    writer.table(f"_{snake(union.name).upper()}_ARMS: Mapping[{kind}, {_CHECK}]", checks)


def _is_below(kind: Type, lenient: Lenient) -> bool:
    """Return whether a leniency may be used in a value of a type."""
    return not lenient.keys().isdisjoint(names_in(kind))


def _walk(kind: Type, expression: str, lenient: Lenient, writer: Writer) -> None:
    """Go on into a value if a leniency may be used below it."""
    if not _is_below(kind, lenient):
        return
    if isinstance(kind, RefTo) and isinstance(lenient[kind.name], Union):
        # In place, for it is done for every item of a list.
        writer(f"check = _{snake(kind.name).upper()}_ARMS.get(type({expression}))")
        with writer.block("if check is not None:"):
            writer(f"check({expression}, used)")
    elif isinstance(kind, RefTo):
        writer(f"_{snake(kind.name)}({expression}, used)")
    elif isinstance(kind, Nullable):
        with writer.block(f"if {expression}:"):
            _walk(kind.of, expression, lenient, writer)
    elif isinstance(kind, Holder):
        items = expression if isinstance(kind, ArrayOf) else f"{expression}.values()"
        n = inner(expression)
        with writer.block(f"for item{n} in {items}:"):
            _walk(kind.of, f"item{n}", lenient, writer)
