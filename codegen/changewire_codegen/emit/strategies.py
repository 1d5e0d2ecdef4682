"""``strategies.py`` of a family: Hypothesis strategies for valid and for broken messages."""

from __future__ import annotations

import keyword

from changewire_codegen.columns import reaches
from changewire_codegen.emit.scalars import arguments
from changewire_codegen.emit.validators import known_constants
from changewire_codegen.envelopes import alone_of, flat_of
from changewire_codegen.names import snake
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
    Row,
    RowUnion,
    Scalar,
    TaggedRow,
    Type,
    Union,
    children,
    with_arms,
)
from changewire_codegen.order import arm_tag
from changewire_codegen.writer import Writer, module_docstring

_TAKEN = {"cache", "drawing", "list", "st"}

_LONG = 256
"""As in ``changewire_library.drawing``: beyond it what is drawn repeats a part of itself."""

STRATEGY = "st.SearchStrategy[Any]"


def strategies(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    writer = Writer()
    writer(module_docstring("Hypothesis strategies for messages", family))
    writer("from __future__ import annotations")
    writer("from functools import cache")
    writer("from typing import Any")
    writer("from hypothesis import strategies as st")
    writer(f"from {package} import drawing")
    roots = set(family.variants.values())
    names = [*map(_function, roots), *(f"broken_{snake(name)}" for name in roots)]
    writer(f"__all__ = {sorted(names)!r}")
    for definition in with_arms(family.definitions.values()):
        _valid(definition, family, writer)
        _broken(definition, family, writer)
    return writer.text()


def _function(title: str) -> str:
    """Return the name of the strategy for valid values of a definition."""
    name = snake(title)
    return f"{name}_" if keyword.iskeyword(name) or name in _TAKEN else name


def _valid(definition: AnyDefinition, family: Family, writer: Writer) -> None:
    writer()
    writer("@cache")
    name, alone = _function(definition.name), alone_of(definition, family)
    if alone is not None:
        with writer.block(f"def {name}() -> {STRATEGY}:"):
            writer.docstring(f"Draw a valid {definition.name}, as parsed from the wire.")
            arms = f"{_enveloped(definition)}(), {_function(alone.union.name)}()"
            writer(f"return st.one_of({arms})")
        writer()
        writer("@cache")
        name = _enveloped(definition)
    with writer.block(f"def {name}() -> {STRATEGY}:"):
        writer.docstring(f"Draw a valid {definition.name}, as parsed from the wire.")
        if isinstance(definition, (RowUnion, TaggedRow, Union)):
            arms = ", ".join(f"{_function(arm)}()" for arm in _arms(definition))
            writer(f"return st.one_of({arms})")
        elif isinstance(definition, Alias):
            writer(f"return {_draw(definition.type, definition.name, family)}")
        elif isinstance(definition, Row):
            values = ", ".join(
                _draw(p.type, definition.name, family) for p in definition.properties
            )
            writer(f"return drawing.row({values})")
        else:
            _valid_object(definition, family, writer)


def _enveloped(definition: AnyDefinition) -> str:
    """Return the name of the strategy for messages that do not come alone."""
    return f"_enveloped_{snake(definition.name)}"


def _arms(union: RowUnion | TaggedRow | Union) -> list[str]:
    return [arm if isinstance(arm, str) else arm.name for arm in union.arms]


def _valid_object(definition: Object, family: Family, writer: Writer) -> None:
    flat = flat_of(definition, family)
    if flat is not None:
        both = [_draw(p.type, definition.name, family) for p in (flat.other, flat.entries)]
        writer(f"return drawing.flat({flat.other.wire!r}, {', '.join(both)})")
        return
    with writer.block("return st.fixed_dictionaries("):
        for required in (True, False):
            found = [prop for prop in definition.properties if prop.required == required]
            if not required and not found:
                continue
            with writer.block("{" if required else "optional={"):
                for prop in found:
                    writer(f"{prop.wire!r}: {_draw_property(prop, definition, family)},")
            writer("},")
    writer(")")


def _draw_property(prop: Property, owner: Object, family: Family) -> str:
    if owner.tag is not None and not owner.tag.models and prop.wire == owner.tag.wire:
        return f"st.text().filter(lambda text: text not in {owner.tag.known!r})"
    return _draw(prop.type, owner.name, family)


def _draw(kind: Type, owner: str, family: Family) -> str:  # noqa: PLR0911 - one for each kind of type
    """Return the strategy for valid values of a type."""
    if isinstance(kind, (Scalar, Choice)):
        return f"drawing.scalar({arguments(kind)})"
    if isinstance(kind, Nullable):
        return f"st.one_of(st.none(), {_draw(kind.of, owner, family)})"
    if isinstance(kind, ArrayOf):
        least, drawn = kind.min_items or 0, _draw(kind.of, owner, family)
        if least > _LONG:
            return f"drawing.lists({drawn}, {least})"
        most = 4 + least if kind.max_items is None else kind.max_items
        bounds = f"min_size={least}, max_size={most}" if least else f"max_size={most}"
        return f"st.lists({drawn}, {bounds})"
    if isinstance(kind, MapOf):
        keys = "drawing.map_keys()" if kind.any_keys else "st.text()"
        return f"st.dictionaries({keys}, {_draw(kind.of, owner, family)}, max_size=4)"
    if isinstance(kind, Anything):
        return f"drawing.{family.encoding}_values()"
    name = _function(kind.name)
    return f"drawing.later({name})" if reaches(kind.name, owner, family) else f"{name}()"


def _broken(definition: AnyDefinition, family: Family, writer: Writer) -> None:
    writer()
    writer("@cache")
    with writer.block(f"def broken_{snake(definition.name)}() -> {STRATEGY}:"):
        writer.docstring(f"Draw what is a {definition.name} but for one place, and no valid one.")
        if isinstance(definition, Union):
            _broken_union(definition, writer)
        elif isinstance(definition, RowUnion):
            _broken_row_union(definition, family, writer)
        elif isinstance(definition, TaggedRow):
            _broken_tagged_row(definition, writer)
        elif isinstance(definition, Alias):
            writer(f"return {_spoil(definition.type, definition.name, family)}")
        else:
            _broken_members(definition, family, writer)


def _broken_union(union: Union, writer: Writer) -> None:
    known = tuple(union.tags)
    other = "drawing.not_of('string')"
    if union.open_arm is None:
        other += f" | st.text().filter(lambda text: text not in {known!r})"
    with writer.block("return st.one_of("):
        for arm in _arms(union):
            writer(f"broken_{snake(arm)}(),")
        writer(f"drawing.broken_tag({_function(union.name)}(), {union.tag!r}, {other}),")
    writer(")")


def _broken_tagged_row(row: TaggedRow, writer: Writer) -> None:
    """Write the strategies of an array whose tag fits no arm, or whose values not the tag."""
    known = tuple(sorted(tag for tag, _ in row.by_tag))
    other = "drawing.not_of('integer')"
    if row.open_arm is None:
        other += f" | drawing.INT64.filter(lambda tag: {_none_of(known)})"
    with writer.block("return st.one_of("):
        for arm in _arms(row):
            writer(f"broken_{snake(arm)}(),")
        writer(f"drawing.broken_row({_function(row.name)}(), {{{row.tag}: {other}}}{_open(row)}),")
    writer(")")


def _broken_row_union(union: RowUnion, family: Family, writer: Writer) -> None:
    """Write the strategies of arrays that are not an arm: by their constants, or the rest."""
    lengths = {arm.length for arm in union.choices}
    with writer.block("return st.one_of("):
        for arm in union.choices:
            row, others = arm.row, tuple(sorted(lengths - {arm.length}))
            for i, prop in enumerate(row.properties):
                if i in union.tags:
                    continue
                spoilt = _spoil(prop.type, row.name, family)
                if i == union.nested and others:
                    spoilt = f"drawing.not_as_long({spoilt}, {others!r})"
                broken = f"{_function(row.name)}(), {{{i}: {spoilt}}}{_open(row)}"
                writer(f"drawing.broken_row({broken}),")
        for i, known in known_constants(union).items():
            other = f"drawing.INT64.filter(lambda tag: {_none_of(known)})"
            spoilt = f"drawing.not_of('integer') | {other}"
            broken = f"{_function(union.name)}(), {{{i}: {spoilt}}}{_open(union.choices[0].row)}"
            writer(f"drawing.broken_row({broken}),")
    writer(")")


def _none_of(known: tuple[int, ...]) -> str:
    return f"tag != {known[0]}" if len(known) == 1 else f"tag not in {known!r}"


def _open(row: Row) -> str:
    return ", is_open=True" if row.is_open else ""


def _broken_members(definition: Object | Row, family: Family, writer: Writer) -> None:
    flat = flat_of(definition, family)
    if flat is not None and isinstance(flat.entries.type, MapOf):
        other, entries, owner = flat.other.type, flat.entries.type, definition.name
        pair = f"({_draw(other, owner, family)}, {_spoil(other, owner, family)})"
        maps = f"{_draw(entries, owner, family)}, {_spoil(entries.of, owner, family)}"
        writer(f"return drawing.broken_flat({flat.other.wire!r}, {pair}, {maps})")
        return
    is_object = isinstance(definition, Object)
    tag = definition.tag.wire if isinstance(definition, Object) and definition.tag else None
    row_tag = arm_tag(definition.name, family)
    helper = "broken_object" if is_object else "broken_row"
    alone = alone_of(definition, family)
    valid = _function(definition.name) if alone is None else _enveloped(definition)
    before = "" if alone is None else f"broken_{snake(alone.union.name)}() | "
    with writer.block(f"return {before}drawing.{helper}("):
        writer(f"{valid}(),")
        with writer.block("{"):
            for i, prop in enumerate(children(definition)):
                if prop.wire != tag and i != row_tag:
                    key = repr(prop.wire) if is_object else str(i)
                    writer(f"{key}: {_spoil(prop.type, definition.name, family)},")
        writer("},")
        if is_object:
            required = tuple(p.wire for p in children(definition) if p.required and p.wire != tag)
            if required:
                writer(f"required={required!r},")
        if isinstance(definition, Row) and definition.is_open:
            writer("is_open=True,")
    writer(")")


def _spoil(kind: Type, owner: str, family: Family) -> str:
    """Return the strategy for values that are not of a type."""
    if isinstance(kind, (Scalar, Choice)):
        return f"drawing.broken_scalar({family.encoding!r}, {arguments(kind)})"
    if isinstance(kind, Nullable):
        return f"drawing.not_null({_spoil(kind.of, owner, family)})"
    if isinstance(kind, ArrayOf):
        drawn, spoilt = _draw(kind.of, owner, family), _spoil(kind.of, owner, family)
        sizes = (kind.min_items or 0, kind.max_items)
        given = "" if sizes == (0, None) else f", {sizes[0]}, {sizes[1]}"
        return f"drawing.broken_list({drawn}, {spoilt}{given})"
    if isinstance(kind, MapOf):
        drawn, spoilt = _draw(kind.of, owner, family), _spoil(kind.of, owner, family)
        return f"drawing.broken_map({drawn}, {spoilt})"
    if isinstance(kind, Anything):
        return "drawing.NOTHING"
    name = f"broken_{snake(kind.name)}"
    return f"drawing.later({name})" if reaches(kind.name, owner, family) else f"{name}()"
