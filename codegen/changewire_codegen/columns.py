"""Types of a family as columns: the types of Arrow and Spark, exact JSON text for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import snake
from changewire_codegen.nodes import (
    Alias,
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
    Row,
    RowUnion,
    Scalar,
    Type,
    Union,
    children,
)
from changewire_codegen.order import has_extra, references

EXTRA = "_extra"
"""Column of the properties that the schema does not name."""

LeafKind = Literal[
    "boolean", "int32", "integer", "number", "string", "bytes", "datetime", "json", "text"
]


@dataclass(frozen=True)
class Leaf:
    """A column of scalars; ``json`` is any value as JSON text, ``text`` such text as received."""

    kind: LeafKind


@dataclass(frozen=True)
class ListColumn:
    """A column of lists."""

    items: Column


@dataclass(frozen=True)
class MapColumn:
    """A column of maps from text."""

    values: Column


@dataclass(frozen=True)
class StructColumn:
    """A column of structs: one field for each property of the definition, or of several."""

    definitions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the struct, in CamelCase."""
        return "Or".join(self.definitions)


Column = Leaf | ListColumn | MapColumn | StructColumn
JSON = Leaf("json")
TEXT = Leaf("text")


@dataclass(frozen=True)
class StructField:
    """A field of a struct.

    Attributes:
        name: Name of the column: the name on the wire.
        attribute: Name in the model.
        everywhere: Whether each value has the attribute; in a union, whether each arm has.
        optional: Whether the property may be absent.
        nullable: Whether the column may be NULL, for null or for absence.
    """

    name: str
    attribute: str
    column: Column
    description: str
    everywhere: bool
    optional: bool
    nullable: bool


_LEAVES: dict[Kind, LeafKind] = {
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "string": "string",
    "bytes": "bytes",
    "binary": "bytes",
    "double": "number",
    "datetime": "datetime",
}


def tables(family: Family) -> list[str]:
    """Return the definitions that get a table of their own, sorted."""
    kinds = (Object, Row, RowUnion, Union)
    return sorted(
        n for n in set(family.variants.values()) if isinstance(family.definitions[n], kinds)
    )


def constant(name: str, family: Family) -> str:
    """Return the name of the constant for a definition: public if it has a table of its own."""
    return f"{'' if name in tables(family) else '_'}{snake(name).upper()}"


def structs(family: Family) -> list[StructColumn]:
    """Return all structs of a family, each after those it has."""
    found: list[StructColumn] = []
    for name in tables(family):
        _collect(StructColumn((name,)), family, found)
    return found


def _collect(struct: StructColumn, family: Family, found: list[StructColumn]) -> None:
    if struct in found:
        return
    for field in fields_of(struct, family):
        for inner in _inner(field.column):
            _collect(inner, family, found)
    found.append(struct)


def _inner(column: Column) -> Iterator[StructColumn]:
    if isinstance(column, StructColumn):
        yield column
    elif isinstance(column, ListColumn):
        yield from _inner(column.items)
    elif isinstance(column, MapColumn):
        yield from _inner(column.values)


def fields_of(struct: StructColumn, family: Family) -> list[StructField]:
    """Return the fields of a struct."""
    first, *others = struct.definitions
    if others:
        return _merged(struct.definitions, family, nested=True)
    return _fields(first, family)


def _fields(name: str, family: Family) -> list[StructField]:
    definition = family.definitions[name]
    if isinstance(definition, (RowUnion, Union)):
        return _merged(definition.arms, family, nested=isinstance(definition, RowUnion))
    found = [_field(child, name, family) for child in children(definition)]
    if has_extra(definition, family):
        if any(field.name == EXTRA for field in found):
            raise SchemaError(
                definition.file, definition.pointer, f"a column {EXTRA!r} is added: rename"
            )
        word = "Properties" if isinstance(definition, Object) else "Positions"
        text = f"{word} that the schema does not name, as a JSON object by JSON Pointer."
        found.append(
            StructField(EXTRA, "extra", JSON, text, everywhere=True, optional=True, nullable=True)
        )
    return found


def _field(prop: Property, owner: str, family: Family) -> StructField:
    column = TEXT if prop.repeated else column_of(prop.type, family, (owner,))
    nullable = not prop.required or _takes_null(prop.type, family)
    return StructField(
        name=prop.wire,
        attribute=prop.attribute,
        column=column,
        description=prop.description,
        everywhere=True,
        optional=not prop.required,
        nullable=nullable,
    )


def _merged(names: tuple[str, ...], family: Family, *, nested: bool) -> list[StructField]:
    """Merge the fields of all arms; a field on whose type they differ becomes JSON text.

    Where ``nested``, structs on which they differ become one struct in turn.
    """
    arms = [{field.name: field for field in _fields(arm, family)} for arm in names]
    merged: dict[str, StructField] = {}
    for name in dict.fromkeys(name for arm in arms for name in arm):
        found = [arm[name] for arm in arms if name in arm]
        everywhere = len(found) == len(arms)
        column = _joined([field.column for field in found], nested=nested)
        nullable = not everywhere or any(field.nullable for field in found)
        texts = list(dict.fromkeys(field.description for field in found))
        text = texts[0] if len(texts) == 1 else " / ".join(texts)
        optional = not everywhere or any(field.optional for field in found)
        merged[name] = StructField(
            name, found[0].attribute, column, text, everywhere, optional, nullable
        )
    extra = merged.pop(EXTRA, None)
    return [*merged.values(), *([extra] if extra else [])]


def _joined(columns: list[Column], *, nested: bool) -> Column:
    distinct = list(dict.fromkeys(columns))
    structs_only = [column for column in distinct if isinstance(column, StructColumn)]
    if len(distinct) == 1:
        return distinct[0]
    if nested and len(structs_only) == len(distinct):
        return StructColumn(tuple(name for column in structs_only for name in column.definitions))
    return JSON


def column_of(kind: Type, family: Family, owners: tuple[str, ...]) -> Column:  # noqa: PLR0911 - one for each kind of type
    """Return the column of a type; JSON text for a type without an exact column type."""
    if isinstance(kind, Scalar):
        return _leaf(kind)
    if isinstance(kind, Choice):
        options = [option for option in kind.options if option.kind != "null"]
        return column_of(options[0], family, owners) if len(options) == 1 else JSON
    if isinstance(kind, Nullable):
        return column_of(kind.of, family, owners)
    if isinstance(kind, ArrayOf):
        items = column_of(kind.items, family, owners)
        return JSON if items == JSON else ListColumn(items)
    if isinstance(kind, MapOf):
        values = column_of(kind.values, family, owners)
        return JSON if kind.any_keys or values == JSON else MapColumn(values)
    if isinstance(kind, Anything):
        return JSON
    return _reference(kind, family, owners)


def _leaf(scalar: Scalar) -> Leaf:
    if scalar.enum is not None:
        return Leaf("integer" if scalar.kind == "integer" else "string")
    return Leaf("int32") if scalar.bits == 32 else Leaf(_LEAVES.get(scalar.kind, "json"))  # noqa: PLR2004 - bits


def _reference(kind: RefTo, family: Family, owners: tuple[str, ...]) -> Column:
    definition = family.definitions[kind.name]
    if isinstance(definition, Alias):
        return column_of(definition.type, family, owners)
    recursive = kind.name in owners or reaches(kind.name, kind.name, family)
    return JSON if recursive else StructColumn((kind.name,))


def reaches(name: str, target: str, family: Family, path: tuple[str, ...] = ()) -> bool:
    """Return whether a definition has the target, itself or at any depth."""
    for other in references(family.definitions[name]):
        if other == target or (
            other not in path and reaches(other, target, family, (*path, other))
        ):
            return True
    return False


def _takes_null(kind: Type, family: Family) -> bool:
    if isinstance(kind, RefTo):
        definition = family.definitions[kind.name]
        return isinstance(definition, Alias) and _takes_null(definition.type, family)
    if isinstance(kind, Choice):
        return any(option.kind == "null" for option in kind.options)
    return isinstance(kind, Nullable)
