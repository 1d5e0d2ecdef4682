"""The schemas of a family as a small typed tree, from which everything is emitted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from changewire_codegen.errors import SchemaError

INT32 = (-(2**31), 2**31 - 1)
INT64 = (-(2**63), 2**63 - 1)

OPEN_TAG = "@open"
"""Tag of an open arm inside a struct; on the wire there is the unknown tag itself."""

Leniencies = Mapping[str, Mapping[str, Any]]
"""The name of each leniency with the condition under which it is used."""

Kind = Literal[
    "null", "boolean", "integer", "number", "double", "string", "bytes", "binary", "datetime"
]


@dataclass(frozen=True)
class Scalar:
    """One scalar with its bounds; lengths count characters, or bytes.

    ``bytes`` are in Base64 text. ``binary`` and ``double`` are what JSON has no type for: bytes
    themselves, and a number that is written as a float.

    Attributes:
        excluded: Integers that it must not be; only the tag of an open arm has any.
        bits: Size of an integer as a column.
        exact: Whether a parsed number may be a decimal; its model has binary64 all the same.
    """

    kind: Kind
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    enum: tuple[str | int, ...] | None = None
    excluded: tuple[int, ...] = ()
    bits: Literal[32, 64] = 64
    exact: bool = False

    @property
    def options(self) -> tuple[Scalar, ...]:
        """Itself, as the only option."""
        return (self,)

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The least and the greatest value; a decimal must be within the range of binary64."""
        beyond = sys.float_info.max if self.exact else None
        low = -beyond if self.minimum is None and beyond else self.minimum
        return low, beyond if self.maximum is None else self.maximum


@dataclass(frozen=True)
class Choice:
    """One of several scalars, all of different kinds."""

    options: tuple[Scalar, ...]


@dataclass(frozen=True)
class ArrayOf:
    """A list of any length between the bounds."""

    of: Type
    min_items: int | None = None
    max_items: int | None = None


@dataclass(frozen=True)
class MapOf:
    """An object whose property names are data; with ``any_keys`` they need not be text."""

    of: Type
    any_keys: bool = False


@dataclass(frozen=True)
class Anything:
    """Any value that the encoding can represent."""


@dataclass(frozen=True)
class RefTo:
    """A definition of the family, by name."""

    name: str


@dataclass(frozen=True)
class Nullable:
    """A reference or a collection that may be null instead."""

    of: Type


Holder = ArrayOf | MapOf | Nullable
"""A type that has values of another type."""

Type = Scalar | Choice | Anything | RefTo | Holder


@dataclass(frozen=True)
class Property:
    """A property of an object, or a position of an array.

    Attributes:
        wire: Name on the wire; for a position, its title.
        name: Name in Python.
        pointer: JSON Pointer to the property in its schema file.
        repeated: Whether message after message has the same value, so that its text is kept and
            parsed once.
        alone: Whether a message may be the value of this property, without the object around it.
        op: The operation of a change that its values represent; empty without one.
        unit: Unit of a time; empty for another value.
        unknown: Numbers that do not represent a time.
        flat: Whether the entries of this map are properties of the object itself.
        values: The values that have a meaning, each as in the schema.
    """

    wire: str
    name: str
    type: Type
    required: bool
    description: str
    pointer: str
    leniencies: Leniencies = field(default_factory=dict[str, Mapping[str, Any]])
    repeated: bool = False
    alone: bool = False
    op: str = ""
    unit: str = ""
    unknown: tuple[int, ...] = ()
    flat: bool = False
    values: tuple[Mapping[str, Any], ...] = ()

    @property
    def attribute(self) -> str:
        """Name of the field in the model; of a repeated value it has the text."""
        return f"{self.name}_text" if self.repeated else self.name


@dataclass(frozen=True)
class Tag:
    """The property that distinguishes the arms of a union.

    Attributes:
        wire: Name of the property.
        models: Name of the class for each value of the arm; none for the open arm. If there are
            several values, the class of the object itself has the fields, and those of the other
            values are derived from it.
        known: Values of all other arms; only in the open arm.
    """

    wire: str
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    known: tuple[str, ...] = ()


@dataclass(frozen=True)
class Definition:
    """What every definition has.

    Attributes:
        name: Title, and name of the class.
        file: Schema file, relative to the schema folder.
        pointer: JSON Pointer to the definition in that file.
    """

    name: str
    description: str
    file: str
    pointer: str

    def refusal(self, reason: str, pointer: str | None = None) -> SchemaError:
        """Return the error for a place in its file; without a pointer, for the definition."""
        return SchemaError(self.file, self.pointer if pointer is None else pointer, reason)


@dataclass(frozen=True)
class Record(Definition):
    """An object or an array whose values have names."""

    properties: tuple[Property, ...]
    leniencies: Leniencies = field(default_factory=dict[str, Mapping[str, Any]])


@dataclass(frozen=True)
class Object(Record):
    """A JSON object with named properties, open for properties it does not name."""

    tag: Tag | None = None


@dataclass(frozen=True)
class Row(Record):
    """An array whose positions have names.

    Attributes:
        is_open: Whether there may be more positions, which have no names.
    """

    is_open: bool = False


@dataclass(frozen=True)
class TaggedRow(Row):
    """Several arrays with the same positions as one model: the tag decides their contents.

    Attributes:
        properties: What all arms allow at each position.
        tag: Index of the position that distinguishes the arms.
        arms: The arrays, which have no models.
        tags: Values of the tag in each arm; empty for the open arm, which takes all others.
    """

    tag: int = 0
    arms: tuple[Row, ...] = ()
    tags: tuple[tuple[int, ...], ...] = ()

    @property
    def open_arm(self) -> Row | None:
        """The arm that takes what no other arm knows; None without one."""
        return next((a for a, t in zip(self.arms, self.tags, strict=True) if not t), None)

    @property
    def differing(self) -> list[int]:
        """Positions on which the arms and the model differ, but for the tag."""
        own = [(i, prop) for i, prop in enumerate(self.properties) if i != self.tag]
        return [i for i, p in own if any(arm.properties[i].type != p.type for arm in self.arms)]

    @property
    def by_tag(self) -> list[tuple[int, Row]]:
        """Each value of the tag with its arm."""
        return [(tag, arm) for arm, tags in zip(self.arms, self.tags, strict=True) for tag in tags]


class RowArm(NamedTuple):
    """An array of several: the constants by which it is chosen, and its inner array if it has one.

    If arms have the same constants, the length of the inner array distinguishes them.
    """

    row: Row
    keys: tuple[tuple[int, ...], ...]
    inner: Row | None

    @property
    def length(self) -> int:
        """Number of positions of the inner array; 0 if no arm has one."""
        return 0 if self.inner is None else len(self.inner.properties)

    @property
    def is_open(self) -> bool:
        """Whether the inner array is open."""
        return self.inner is not None and self.inner.is_open


@dataclass(frozen=True)
class RowUnion(Definition):
    """One of several arrays, each a model of its own.

    Attributes:
        arms: Names of the arrays; all have the same number of positions.
        tags: Indices of the positions that have a constant in each arm.
        nested: Index of a position whose length distinguishes arms that have the same tags; None
            if the tags suffice.
        choices: The arrays; the values of their tags are in the order of these.
    """

    arms: tuple[str, ...]
    tags: tuple[int, ...] = ()
    nested: int | None = None
    choices: tuple[RowArm, ...] = ()


@dataclass(frozen=True)
class Union(Definition):
    """One of several tagged objects.

    Attributes:
        tag: The property that distinguishes the arms.
        tags: The arm of each value; the open arm, which takes all others, has none.
    """

    tag: str
    arms: tuple[str, ...]
    tags: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def open_arm(self) -> str | None:
        """Name of the open arm; None if the union is closed."""
        return next((arm for arm in self.arms if arm not in self.tags.values()), None)


@dataclass(frozen=True)
class Alias(Definition):
    """A named type that is not an object of its own."""

    type: Type


AnyDefinition = Object | Row | RowUnion | Union | Alias


def with_references(kind: Type, change: Callable[[RefTo], Type]) -> Type:
    """Return a type in which each reference, at any depth, is replaced by a function."""
    if isinstance(kind, Holder):
        return replace(kind, of=with_references(kind.of, change))
    return change(kind) if isinstance(kind, RefTo) else kind


def names_in(kind: Type) -> list[str]:
    """Return the name that a type refers to, at any depth."""
    while isinstance(kind, Holder):
        kind = kind.of
    return [kind.name] if isinstance(kind, RefTo) else []


def not_null(kind: Type) -> Type:
    """Return a type without null, if that is an alternative to it."""
    return kind.of if isinstance(kind, Nullable) else kind


def children(definition: AnyDefinition) -> tuple[Property, ...]:
    """Return the properties or positions of a definition; none if it has neither."""
    return definition.properties if isinstance(definition, Record) else ()


def with_arms(definitions: Iterable[AnyDefinition]) -> Iterator[AnyDefinition]:
    """Yield each definition, after the arms without definitions."""
    for definition in definitions:
        if isinstance(definition, TaggedRow):
            yield from definition.arms
        yield definition


@dataclass(frozen=True)
class Family:
    """All variants of one format.

    Attributes:
        name: Folder of the schemas, and name of the generated package.
        kind: Whether the schemas describe messages, or rows of tables: these get models and column
            types alone, and any of their columns may be NULL.
        format: Public name of the wire format; None for a family that is not a wire format.
        encoding: How the messages are written.
        exact: Whether numbers that binary64 cannot represent are kept as decimals.
        roles: Definition for each part that a Kafka record can play.
        definitions: By name; every definition is after those it refers to.
        meta: The parsed ``family.json``.
        schemas: The parsed schema files by file name.
        variants: Definition at the root of each file, by file stem.
    """

    name: str
    title: str
    kind: Literal["messages", "tables"]
    format: str | None
    encoding: Literal["json", "msgpack"]
    exact: bool
    roles: Mapping[str, str]
    definitions: Mapping[str, AnyDefinition]
    meta: Mapping[str, Any]
    schemas: Mapping[str, Mapping[str, Any]]
    variants: Mapping[str, str]


def class_names(definition: AnyDefinition) -> list[str]:
    """Return the names of the classes, or of the alias, that a definition becomes."""
    tag = definition.tag if isinstance(definition, Object) else None
    return list(dict.fromkeys([definition.name, *(tag.models.values() if tag else ())]))
