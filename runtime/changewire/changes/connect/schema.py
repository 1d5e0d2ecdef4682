"""Schemas of Kafka Connect as JSON: checked once, bounded, and turned into plain nodes.

The rules are those of Kafka's ``JsonConverter.asConnectSchema``, but a member of the wrong type,
which Kafka ignores, and a field name that comes twice are rejected.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from changewire.changes.vendors import connect_values as values
from changewire.codec import Issue
from changewire_messages.support import KnownValue, pointer_token


class ConnectSchemaError(ValueError):
    """A JSON value is not a schema of Kafka Connect."""

    def __init__(self, pointer: str, expected: str, actual: Any = UNSET) -> None:
        self.pointer = pointer
        self.expected = expected
        self.actual = actual
        issue = Issue(pointer, "wrong-value", "schema", expected, actual)
        super().__init__(f"Kafka Connect schema: {issue}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the value, which may be private."""
        return type(self), (self.pointer, self.expected)


class ValueMismatch(ValueError):  # noqa: N818 - it reads as what happened
    """A value does not fit its schema."""

    def __init__(
        self, pointer: str, schema_pointer: str, expected: str, actual: Any, rule: str
    ) -> None:
        self.pointer = pointer
        self.schema_pointer = schema_pointer
        self.expected = expected
        self.actual = actual
        self.rule = rule
        issue = Issue(pointer, rule, "connect", expected, actual)
        place = Issue(schema_pointer, rule, "connect", expected).place
        super().__init__(f"{issue}; its schema: {place or 'the root'}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the value, which may be private."""
        return type(self), (self.pointer, self.schema_pointer, self.expected, UNSET, self.rule)


MAX_DEPTH: Final = 64
"""How deep schemas may be nested."""

MAX_NODES: Final = 20_000
"""How many nodes a schema may have: more columns than any table has, counted before and after."""

_NAMES: Final = values.CONNECT_SCHEMA_TYPE

TYPES: Final[Mapping[str, KnownValue]] = {t.value: t for t in _NAMES if t.means != "alias"}
"""Every type, by the name that Kafka's ``JsonSchema`` gives it."""

ALIASES: Final[Mapping[str, str]] = {t.value: t.of for t in _NAMES if t.means == "alias"}
"""Names that some writers use, with Kafka's own."""

_PARTS: Final[Mapping[str, tuple[str, ...]]] = {"array": ("items",), "map": ("keys", "values")}

WORDS: Final[Mapping[type, str]] = {bool: "true or false", dict: "an object", str: "a string"}

T = TypeVar("T")


class Node(msgspec.Struct, frozen=True):
    """One schema, or one part of it."""

    pointer: str
    type: str
    aliased: bool
    optional: bool
    name: str | None
    parameters: Mapping[str, str]
    default: Any
    parts: Mapping[str, "Node"]


def parse_schema(schema: object) -> Node | None:
    """Return the root node of a schema; None for null and the empty object, which say nothing."""
    if schema is None or schema == {}:
        return None
    return _node(schema, "", MAX_DEPTH, count())


def _node(schema: object, at: str, depth: int, counter: Iterator[int]) -> Node:
    if not isinstance(schema, dict):
        raise ConnectSchemaError(at, "an object with a type", schema)
    if not depth:
        raise ConnectSchemaError(at, f"at most {MAX_DEPTH} levels")
    if next(counter) >= MAX_NODES:
        raise ConnectSchemaError(at, f"at most {MAX_NODES} types and fields")
    said = schema.get("type", UNSET)
    type_ = ALIASES.get(said, said) if isinstance(said, str) else said
    if not isinstance(type_, str) or type_ not in TYPES:
        raise ConnectSchemaError(f"{at}/type", f"one of {', '.join(TYPES)}", said)
    default = schema.get("default")
    return Node(
        pointer=at,
        type=type_,
        aliased=said in ALIASES,
        optional=_member(schema, "optional", bool, at) or False,
        name=_member(schema, "name", str, at),
        parameters=_parameters(schema, at),
        default=UNSET if default is None else default,
        parts=_parts(schema, type_, at, depth - 1, counter),
    )


def _member(schema: Mapping[str, Any], key: str, kind: type[T], at: str) -> T | None:
    """Return a member of a schema; None if it is absent or null, which some writers send."""
    value = schema.get(key)
    if value is None or isinstance(value, kind):
        return value
    raise ConnectSchemaError(f"{at}/{key}", WORDS[kind], value)


def _parameters(schema: Mapping[str, Any], at: str) -> Mapping[str, str]:
    parameters = _member(schema, "parameters", dict, at) or {}
    for key, value in parameters.items():
        if not isinstance(value, str):
            raise ConnectSchemaError(f"{at}/parameters/{pointer_token(key)}", "a string", value)
    return parameters


def _parts(
    schema: Mapping[str, Any], type_: str, at: str, depth: int, counter: Iterator[int]
) -> dict[str, Node]:
    if type_ == "struct":
        return _fields(schema, f"{at}/fields", depth, counter)
    return {
        key: _node(schema.get(key, UNSET), f"{at}/{key}", depth, counter)
        for key in _PARTS.get(type_, ())
    }


def _fields(
    schema: Mapping[str, Any], at: str, depth: int, counter: Iterator[int]
) -> dict[str, Node]:
    listed = schema.get("fields", UNSET)
    if not isinstance(listed, list):
        raise ConnectSchemaError(at, "an array of fields", listed)
    fields: dict[str, Node] = {}
    for i, field in enumerate(listed):
        node = _node(field, f"{at}/{i}", depth, counter)
        name = field.get("field", UNSET)
        if not isinstance(name, str):
            raise ConnectSchemaError(f"{at}/{i}/field", "the name of the field", name)
        if name in fields:
            raise ConnectSchemaError(f"{at}/{i}/field", "a name that no other field has", name)
        fields[name] = node
    return fields
