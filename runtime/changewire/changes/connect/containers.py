"""Readers of the types of Kafka Connect that have others: arrays, maps and structs."""

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET

from changewire.changes.connect.logical import conversion_of
from changewire.changes.connect.reads import (
    DEFAULT_FOR_ABSENT,
    UNDECLARED_FIELD,
    Context,
    Path,
    Read,
    pointer_of,
    refusal,
)
from changewire.changes.connect.scalars import BOUNDS
from changewire.changes.connect.schema import Node, ValueMismatch


def array(node: Node, items: Read) -> Read:
    """Return a reader of arrays."""
    refuse = refusal(node, "an array")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not list:
            return refuse(value, path)
        return [items(item, context, (path, i)) for i, item in enumerate(value)]

    return read


def object_map(node: Node, values: Read) -> Read:
    """Return a reader of maps with text as keys, which are JSON objects."""
    refuse = refusal(node, "an object, as its keys are strings")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not dict:
            return refuse(value, path)
        return {key: values(item, context, (path, key)) for key, item in value.items()}

    return read


def pair_map(node: Node, keys: Read, values: Read) -> Read:
    """Return a reader of maps with other keys, which are arrays of pairs; they stay pairs.

    A dictionary would fold keys that Python takes for equal (1, 1.0 and true), and takes no lists.
    """
    refuse = refusal(node, "an array of pairs, as its keys are not strings")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not list:
            return refuse(value, path)
        pairs: list[tuple[Any, Any]] = []
        for i, pair in enumerate(value):
            at: Path = (path, i)
            if type(pair) is not list or len(pair) != 2:  # noqa: PLR2004 - a pair
                raise ValueMismatch(
                    pointer_of(at), node.pointer, "an array of key and value", pair, "wrong-length"
                )
            key, item = pair
            pairs.append((keys(key, context, (at, 0)), values(item, context, (at, 1))))
        return pairs

    return read


_MOST_PLANS: Final = 64

_Shape: TypeAlias = tuple[tuple[str, ...], tuple[type, ...]]
"""The names of the fields of a value, and the Python types of what is in them."""


class _Plan(NamedTuple):
    """How to read the values of one shape. Other values are as in their schema."""

    bounded: tuple[tuple[str, Any, Any, Read], ...]
    others: tuple[tuple[str, Read], ...]
    absent: frozenset[str]


def struct(node: Node, fields: Mapping[str, Read]) -> Read:
    """Return a reader of structs, which are JSON objects.

    Fields keep the order of the message, and absent ones stay absent. A required field must be
    there unless the value is partial; with a default its absence is only noted. A field that the
    schema does not name is kept as in JSON, and noted.

    Rows of a table have few shapes, so what is to be done is worked out once for each: looking at
    every value would take twice as long.
    """
    refuse = refusal(node, "an object")
    plan_of = _planner(node, fields)
    plans: dict[_Shape, _Plan] = {}

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not dict:
            return refuse(value, path)
        shape = tuple(value), tuple(map(type, value.values()))
        plan = plans.get(shape)
        if plan is None:
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plan = plans[shape] = plan_of(shape)
        bounded, others, absent = plan
        for name, low, high, reader in bounded:
            if not low <= value[name] <= high:
                reader(value[name], context, (path, name))
        row = value.copy()
        for name, reader in others:
            row[name] = reader(value[name], context, (path, name))
        if absent and not context.partial:
            _check_absent(node, absent, context, path)
        return row

    return read


def _planner(node: Node, fields: Mapping[str, Read]) -> Callable[[_Shape], _Plan]:
    required = frozenset(name for name, field in node.parts.items() if not field.optional)

    def plan_of(shape: _Shape) -> _Plan:
        bounded: list[tuple[str, Any, Any, Read]] = []
        others: list[tuple[str, Read]] = []
        for name, kind in zip(*shape, strict=True):
            field = node.parts.get(name)
            if field is None:
                others.append((name, _undeclared))
            elif not _is_taken(field, kind):
                others.append((name, fields[name]))
            elif kind in {int, float}:
                bounded.append((name, *BOUNDS[field.type][1:], fields[name]))
        return _Plan(tuple(bounded), tuple(others), required.difference(shape[0]))

    return plan_of


def _is_taken(field: Node, kind: type) -> bool:
    """Return whether a field keeps values of a Python type, if they are within its bounds."""
    if kind is NoneType:
        return field.optional and field.default is UNSET
    return not conversion_of(field) and field.type in BOUNDS and BOUNDS[field.type][0] is kind


def _undeclared(value: Any, context: Context, path: Path) -> Any:
    context.note(UNDECLARED_FIELD, path)
    return value


def _check_absent(node: Node, absent: frozenset[str], context: Context, path: Path) -> None:
    """Note the required fields that are absent but have a default; raise for one that has none."""
    for name, field in node.parts.items():
        if name in absent:
            at = (path, name)
            if field.default is UNSET:
                expected = "a value: the field is required and has no default"
                raise ValueMismatch(
                    pointer_of(at), field.pointer, expected, UNSET, "missing-property"
                )
            context.note(DEFAULT_FOR_ABSENT, at)
