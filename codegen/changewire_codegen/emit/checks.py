"""``__post_init__`` of arrays: what the annotations of their positions cannot say."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.emit.scalars import scalar_checks, type_test
from changewire_codegen.names import snake
from changewire_codegen.nodes import (
    INT64,
    Anything,
    ArrayOf,
    Choice,
    Family,
    Kind,
    MapOf,
    Nullable,
    Row,
    Scalar,
    TaggedRow,
    Type,
)
from changewire_codegen.types import is_loose

_EXACT: Mapping[Kind, str] = {
    "null": "type(None)",
    "boolean": "bool",
    "integer": "int",
    "double": "float",
    "string": "str",
    "binary": "bytes",
}
"""The Python type of each scalar that has no bounds."""


def row_checks(row: Row) -> list[str]:
    """Return the ``__post_init__`` of an array; empty where the annotations say all."""
    refused = [f"not {_test(p.type, f'self.{p.name}')}" for p in row.positions if is_loose(p.type)]
    lines: list[str] = []
    if isinstance(row, TaggedRow) and _differing(row):
        before, broken = _tagged(row)
        lines, refused = before, [*refused, broken]
    if not refused:
        return []
    rule = "oneOf" if isinstance(row, TaggedRow) else "prefixItems"
    head = ["", "def __post_init__(self) -> None:", '    """Hold what no annotation can say."""']
    return [
        *head,
        *lines,
        f"    if {' or '.join(refused)}:",
        f"        raise ValueError({f'{rule} of {row.name!r}'!r})",
    ]


def check_tables(family: Family) -> list[str]:
    """Return what ``__post_init__`` looks up, which stands below all classes."""
    rows = [d for d in family.definitions.values() if isinstance(d, TaggedRow)]
    return [line for row in rows if _differing(row) for line in _tables(row)]


def _differing(row: TaggedRow) -> list[int]:
    """Return the positions on which the arms and the model differ, but for the tag."""
    return [
        i
        for i, prop in enumerate(row.positions)
        if i != row.tag and any(arm.positions[i].type != prop.type for arm in row.arms)
    ]


def _tagged(row: TaggedRow) -> tuple[list[str], str]:
    """Return the lines before the test of an array with a tag, and the test that it is broken.

    This runs for every element of a list: most tags cost a look into a table, and no call.
    """
    name, tag = snake(row.name).upper(), f"self.{row.positions[row.tag].name}"
    types, checks = _by_type(row), _by_test(row)
    known = "in" if row.open_arm else "not in"
    joined = "and" if row.open_arm else "or"
    broken = f"({tag} {known} _{name}_CHECKS {joined} not _{name}_CHECKS[{tag}](self))"
    if not types:
        return [], broken
    value = row.positions[_differing(row)[0]].name
    lines = [f"    value = self.{value}", "    kind = type(value)"]
    other = f"_{name}_TYPES.get({tag}) is not kind"
    if "int" in types.values():
        other = f"({other} or (kind is int and not {INT64[0]} <= value <= {INT64[1]}))"
    if not row.open_arm:
        return lines, f"{other} and {broken}" if checks else other
    test = f"({tag} in _{name}_TYPES or {broken})" if checks else f"{tag} in _{name}_TYPES"
    return lines, f"{other} and {test}"


def _tables(row: TaggedRow) -> list[str]:
    name = snake(row.name).upper()
    types, checks = _by_type(row), _by_test(row)
    lines: list[str] = []
    if types:
        items = ", ".join(f"{tag}: {kind}" for tag, kind in types.items())
        lines.append(f"_{name}_TYPES: Mapping[int, type] = {{{items}}}")
    if checks:
        items = ", ".join(f"{tag}: lambda row: {test}" for tag, test in checks.items())
        lines.append(f"_{name}_CHECKS: Mapping[int, Callable[[{row.name}], bool]] = {{{items}}}")
    return lines


def _by_type(row: TaggedRow) -> dict[int, str]:
    """Return the tags whose arms ask for no more than one type of one value."""
    differing = _differing(row)
    if len(differing) > 1:
        return {}
    found = [
        (tag, _exact(arm.positions[differing[0]].type))
        for arm, tags in zip(row.arms, row.tags, strict=True)
        for tag in tags
    ]
    return {tag: name for tag, name in sorted(found) if name is not None}


def _by_test(row: TaggedRow) -> dict[int, str]:
    """Return the tests of the other tags."""
    simple = _by_type(row)
    found: dict[int, str] = {}
    for arm, tags in zip(row.arms, row.tags, strict=True):
        values = [arm.positions[i] for i in _differing(row)]
        tests = [_test(prop.type, f"row.{prop.name}") for prop in values]
        for tag in tags:
            if tag not in simple:
                found[tag] = " and ".join(test for test in tests if test != "True") or "True"
    return dict(sorted(found.items()))


def _exact(kind: Type) -> str | None:
    if isinstance(kind, (ArrayOf, MapOf)):
        return "list" if isinstance(kind, ArrayOf) else "dict"
    if isinstance(kind, Scalar) and kind in {Scalar("integer", *INT64), Scalar(kind.kind)}:
        return _EXACT.get(kind.kind)
    return None


def _test(kind: Type, value: str) -> str:
    """Return the test that a value of a model is of a type."""
    if isinstance(kind, Nullable):
        return f"({value} is None or {_test(kind.of, value)})"
    if isinstance(kind, (ArrayOf, MapOf)):
        return f"type({value}) is {_exact(kind)}"
    if isinstance(kind, Choice):
        return f"({' or '.join(_test(option, value) for option in kind.options)})"
    if isinstance(kind, Scalar):
        broken = [test for test, _, _ in scalar_checks(kind, value)]
        test = type_test(kind, value)
        return f"({' and '.join([test, *(f'not ({b})' for b in broken)])})" if broken else test
    assert isinstance(kind, Anything)  # noqa: S101 - the builder refuses other types
    return "True"
