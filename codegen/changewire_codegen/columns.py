"""Types of a family as columns: the types of Arrow and Spark, exact JSON text for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import snake
from changewire_codegen.nodes import (
    Alias,
    AnyDefinition,
    Anything,
    ArrayOf,
    Choice,
    Family,
    Kind,
    MapOf,
    Nullable,
    Object,
    Property,
    RefTo,
    RowUnion,
    Scalar,
    Type,
    Union,
    children,
)
from changewire_codegen.order import has_extra, reached, references
from changewire_library import fields
from changewire_library.fields import Column, Field, Leaf, Presence

EXTRA: Final = "_extra"
"""Column of the properties that the schema does not name."""

_LEAVES: Final[Mapping[Kind, Leaf]] = {
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "string": "string",
    "bytes": "bytes",
    "binary": "bytes",
    "double": "number",
    "datetime": "datetime",
}
_JSON: Final[Mapping[str, Leaf]] = {"json": "json", "msgpack": "exact"}
"""The column of any value, by encoding."""

_PRESENCES: Final[tuple[Presence, ...]] = get_args(Presence)
"""Each after those that say more."""


@dataclass(frozen=True)
class Struct(fields.Struct):
    """A column of structs: one field for each property of the definition, or of several."""

    definitions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the struct, in CamelCase."""
        return "Or".join(self.definitions)


def tables(family: Family) -> list[str]:
    """Return the definitions that get a table of their own, sorted."""
    named = set(family.variants.values())
    return sorted(n for n in named if not isinstance(family.definitions[n], Alias))


def constant(name: str, family: Family) -> str:
    """Return the name of the constant for a definition: public if it has a table of its own."""
    return f"{'' if name in tables(family) else '_'}{snake(name).upper()}"


def structs(family: Family) -> list[Struct]:
    """Return all structs of a family, each after those it has."""
    found: list[Struct] = []
    for name in tables(family):
        _collect(struct_of(family, name), found)
    return found


def _collect(column: Column, found: list[Struct]) -> None:
    struct = inner_struct(column)
    if struct is not None and struct not in found:
        for field in struct.fields:
            _collect(field.column, found)
        found.append(struct)


def inner_struct(column: Column) -> Struct | None:
    """Return the struct that a column is, or that its elements are; None if it has no struct."""
    while isinstance(column, fields.ListOf | fields.MapOf):
        column = column.items
    return column if isinstance(column, Struct) else None


def struct_of(family: Family, *names: str) -> Struct:
    """Return the struct of a definition, or of several."""
    comment = " / ".join(family.definitions[name].description for name in names)
    definition = family.definitions[names[0]]
    if len(names) > 1:
        found = _merged(names, family, nested=True)
    elif isinstance(definition, RowUnion | Union):
        found = _merged(definition.arms, family, nested=isinstance(definition, RowUnion))
    else:
        found = _fields(definition, family)
    return Struct(comment, tuple(found), names)


def _fields(definition: AnyDefinition, family: Family) -> list[Field]:
    found = [_field(child, family) for child in children(definition)]
    if has_extra(definition, family):
        if any(field.name == EXTRA for field in found):
            raise definition.refusal(f"a column {EXTRA!r} is added: rename")
        word = "Properties" if isinstance(definition, Object) else "Positions"
        text = f"{word} that the schema does not name, as a JSON object by JSON Pointer."
        kind: Leaf = "json" if family.encoding == "json" else "extra"
        found.append(Field(EXTRA, kind, "optional", text, "extra"))
    return found


def _field(prop: Property, family: Family) -> Field:
    column: Column = "text" if prop.repeated else _column(prop.type, family)
    presence: Presence = "nullable" if _takes_null(prop.type, family) else "required"
    return Field(
        name=prop.wire,
        column=column,
        presence=presence if prop.required else "optional",
        comment=prop.description,
        attribute=prop.attribute if prop.attribute != prop.wire else "",
    )


def _merged(names: tuple[str, ...], family: Family, *, nested: bool) -> list[Field]:
    """Merge the fields of all arms; a field on whose type they differ becomes JSON text.

    Where ``nested``, structs on which they differ become one struct in turn.
    """
    arms = [{field.name: field for field in struct_of(family, arm).fields} for arm in names]
    merged: dict[str, Field] = {}
    taken: dict[str, str] = {}
    for name in dict.fromkeys(name for arm in arms for name in arm):
        found = [arm[name] for arm in arms if name in arm]
        attribute = found[0].attribute
        other = taken.setdefault(attribute or name, name)
        if other != name:
            raise _clash([family.definitions[n] for n in names], name, other)
        most = _PRESENCES[max(_PRESENCES.index(field.presence) for field in found)]
        merged[name] = Field(
            name=name,
            column=_joined([field.column for field in found], family, nested=nested),
            presence=most if len(found) == len(arms) else "partial",
            comment=" / ".join(dict.fromkeys(field.comment for field in found)),
            attribute=attribute,
        )
    extra = merged.pop(EXTRA, None)
    return [*merged.values(), *([extra] if extra else [])]


def _clash(arms: Sequence[AnyDefinition], name: str, other: str) -> SchemaError:
    """Return the error for two columns that a model of any arm would be asked for by one name."""
    found = ((arm, p.pointer) for arm in arms for p in children(arm) if p.wire == name)
    arm, pointer = next(found, (arms[-1], None))
    reason = f"{name!r} and {other!r} of another arm are the same in Python"
    return arm.refusal(f"name clash: {reason}", pointer)


def _joined(columns: list[Column], family: Family, *, nested: bool) -> Column:
    distinct = list(dict.fromkeys(columns))
    merged = [column for column in distinct if isinstance(column, Struct)]
    if len(distinct) == 1:
        return distinct[0]
    if nested and len(merged) == len(distinct):
        return struct_of(family, *(name for struct in merged for name in struct.definitions))
    return _JSON[family.encoding]


def _column(kind: Type, family: Family) -> Column:  # noqa: PLR0911 - one for each kind of type
    """Return the column of a type; JSON text for a type without an exact column type."""
    json = _JSON[family.encoding]
    if isinstance(kind, Scalar):
        return _leaf(kind, json)
    if isinstance(kind, Choice):
        options = [option for option in kind.options if option.kind != "null"]
        return _leaf(options[0], json) if len(options) == 1 else json
    if isinstance(kind, RefTo):
        definition = family.definitions[kind.name]
        if isinstance(definition, Alias):
            return _column(definition.type, family)
        return json if reaches(kind.name, kind.name, family) else struct_of(family, kind.name)
    if isinstance(kind, Anything):
        return json
    items = _column(kind.of, family)
    if isinstance(kind, Nullable):
        return items
    if items == json or (isinstance(kind, MapOf) and kind.any_keys):
        return json
    return fields.ListOf(items) if isinstance(kind, ArrayOf) else fields.MapOf(items)


def _leaf(scalar: Scalar, json: Leaf) -> Leaf:
    if scalar.kind == "null":
        return json
    return "int32" if scalar.bits == 32 else _LEAVES[scalar.kind]  # noqa: PLR2004 - bits


def reaches(name: str, target: str, family: Family) -> bool:
    """Return whether a definition has the target, itself or at any depth."""
    return target in reached(references(family.definitions[name]), family)


def _takes_null(kind: Type, family: Family) -> bool:
    if isinstance(kind, RefTo):
        definition = family.definitions[kind.name]
        return isinstance(definition, Alias) and _takes_null(definition.type, family)
    is_choice = isinstance(kind, Choice) and any(option.kind == "null" for option in kind.options)
    return is_choice or isinstance(kind, Nullable)
