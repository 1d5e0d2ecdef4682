"""Columns of messages, described once: Spark types and Arrow builders are made from this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Leaf: TypeAlias = Literal[
    "boolean", "int32", "integer", "number", "string", "bytes", "datetime", "json", "exact", "text",
    "extra",
]  # fmt: skip
"""A column of scalars. The last four are JSON text: of any value that JSON has, of any value of
MessagePack, as it was received, and of unknown parts of a MessagePack message."""

Presence: TypeAlias = Literal["required", "nullable", "optional", "partial"]
"""Whether a value is always there, may be null, may be absent, or only some models have it."""


@dataclass(frozen=True)
class ListOf:
    """A column of lists."""

    items: Column


@dataclass(frozen=True)
class MapOf:
    """A column of maps from text to items."""

    items: Column


@dataclass(frozen=True)
class Struct:
    """A column of structs."""

    comment: str
    fields: Sequence[Field]


Column: TypeAlias = "Leaf | ListOf | MapOf | Struct"


@dataclass(frozen=True)
class Field:
    """A field of a struct.

    Attributes:
        name: Name of the column.
        column: Its type.
        presence: Whether a model has a value for it.
        comment: Description of the column.
        attribute: Name in the model, if it differs.
    """

    name: str
    column: Column
    presence: Presence = "optional"
    comment: str = ""
    attribute: str = ""
