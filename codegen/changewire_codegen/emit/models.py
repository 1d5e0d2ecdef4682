"""``models.py`` of a family: msgspec structs, one for each object and each positional array."""

from __future__ import annotations

from changewire_codegen.alone import alone_property
from changewire_codegen.emit.checks import check_tables, row_checks
from changewire_codegen.emit.hints import hint
from changewire_codegen.emit.repeated import class_tail, readers
from changewire_codegen.nodes import (
    OPEN_TAG,
    Alias,
    AnyDefinition,
    Family,
    Object,
    Property,
    Row,
    Scalar,
)
from changewire_codegen.order import has_extra, parsed_apart
from changewire_codegen.writer import Writer, module_docstring, quoted_docstring

_TEXT_WIDTH = 92
_ALONE = "`{}` if the message is the value of this property, without the object around it."
_EXTRA_POSITIONS = (
    "Positions that the schema does not name, by JSON Pointer; unset if there are none."
)
_EXTRA = "Properties that the schema does not name, by JSON Pointer; unset if there are none."


def models(family: Family, package: str) -> str:
    """Return the source of the module, unformatted.

    Args:
        family: What to emit.
        package: Import name of the generated package.
    """
    writer = Writer()
    writer(module_docstring("Messages", family))
    writer("from __future__ import annotations")
    writer("import decimal")
    writer("import re")
    writer("from collections.abc import Callable, Mapping")
    writer("from datetime import datetime")
    writer("from typing import Annotated, Any, ClassVar, Literal, TypeAlias")
    writer("from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field")
    writer(f"from {package}.support import Alone, Extra, OpenTag, as_binary64")
    writer(f"from {package}.support import constructor_call, repeated")
    for definition in family.definitions.values():
        writer()
        _define(definition, family, writer)
    for line in ["", *readers(family), *check_tables(family)]:
        writer(line)
    writer(f"__all__ = {sorted(family.definitions)!r}")
    return writer.text()


def _define(definition: AnyDefinition, family: Family, writer: Writer) -> None:
    if isinstance(definition, (Object, Row)):
        _class(definition, family, writer)
        return
    kind = hint(definition.type) if isinstance(definition, Alias) else " | ".join(definition.arms)
    writer(f"{definition.name}: TypeAlias = {kind}")
    _docstring(definition.description, writer)


def _class(definition: Object | Row, family: Family, writer: Writer) -> None:
    options = "".join(f", {name}={value}" for name, value in _options(definition, family).items())
    with writer.block(f"class {definition.name}(Struct{options}):"):
        _docstring(definition.description, writer)
        if isinstance(definition, Object):
            for prop in definition.properties:
                _property(prop, definition, writer)
            tail = class_tail(definition, family)
        else:
            for position in definition.positions:
                default = _default(position, definition)
                value = "" if default is None else f" = {default}"
                writer()
                writer(f"{position.name}: {hint(position.type)}{value}")
                _docstring(position.description, writer)
            tail = row_checks(definition, family)
        alone = alone_property(definition)
        if alone is not None:
            writer()
            writer('alone: Alone | UnsetType = field(name="@alone", default=UNSET)')
            _docstring(_ALONE.format(alone.wire), writer)
        if has_extra(definition, family):
            writer()
            writer('extra: Extra | UnsetType = field(name="@extra", default=UNSET)')
            _docstring(_EXTRA_POSITIONS if isinstance(definition, Row) else _EXTRA, writer)
        for line in tail:
            writer(line)


def _options(definition: Object | Row, family: Family) -> dict[str, object]:
    options: dict[str, object] = {"frozen": True, "gc": False}
    options["forbid_unknown_fields"] = definition.name not in parsed_apart(family)
    if isinstance(definition, Row):
        options["array_like"] = True
        if any(_default(position, definition) for position in definition.positions):
            options["kw_only"] = True
        return options
    options["kw_only"] = True
    if definition.tag is not None:
        options["tag_field"] = repr(definition.tag.wire)
        options["tag"] = repr(definition.tag.value or OPEN_TAG)
    return options


def _default(position: Property, row: Row) -> str | None:
    """Return the constant of a position, if it has one.

    The last position gets none: a default would let a shorter array pass.
    """
    values = position.type.enum if isinstance(position.type, Scalar) else None
    if values is None or len(values) != 1 or position is row.positions[-1]:
        return None
    return repr(values[0])


def _property(prop: Property, owner: Object, writer: Writer) -> None:
    """Write the field of a property."""
    tag = owner.tag
    writer()
    if tag is not None and prop.wire == tag.wire:
        if tag.value is None:
            writer(f"{prop.name}: OpenTag = field(name={'@' + tag.wire!r})")
        else:
            writer(f"{prop.name}: ClassVar[Literal[{tag.value!r}]] = {tag.value!r}")
        _docstring(prop.description, writer)
        return
    annotation = "Raw" if prop.repeated else hint(prop.type)
    renamed = [f"name={prop.wire!r}"] if prop.attribute != prop.wire else []
    if prop.required:
        value = f" = field({renamed[0]})" if renamed else ""
    else:
        annotation += " | UnsetType"
        value = f" = field({renamed[0]}, default=UNSET)" if renamed else " = UNSET"
    writer(f"{prop.attribute}: {annotation}{value}")
    text = f"The JSON text of `{prop.name}`, as it was received."
    _docstring(text if prop.repeated else prop.description, writer)


def _docstring(text: str, writer: Writer) -> None:
    for line in quoted_docstring((text,), _TEXT_WIDTH):
        writer(line)
