"""``__post_init__`` of arrays: what the annotations of their positions cannot say."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.emit.scalars import arguments, scalar_words, type_test
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
    Property,
    RefTo,
    Row,
    Scalar,
    TaggedRow,
    Type,
    not_null,
)
from changewire_codegen.order import references
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


def row_checks(row: Row, family: Family) -> list[str]:
    """Return what ``__post_init__`` of an array does; empty if the annotations say all."""
    refused = [f"not {_test(p.type, f'self.{p.name}')}" for p in row.properties if is_loose(p.type)]
    if isinstance(row, TaggedRow) and row.differing and not _is_checked_in_lists(row, family):
        refused.append(_tagged(row, "self"))
    lines: list[str] = []
    if refused:
        rule = "oneOf" if isinstance(row, TaggedRow) else "prefixItems"
        lines += [f"if {' or '.join(refused)}:", _refusal(rule, row)]
    for prop in row.properties:
        lines += _list_check(prop, family)
    return lines


def _list_check(prop: Property, family: Family) -> list[str]:
    """Return the loop over a list of arrays with a tag: their own check would be a call each."""
    row = _listed(prop, family)
    if row is None or not row.differing or not _is_checked_in_lists(row, family):
        return []
    items = f"self.{prop.name} or ()" if isinstance(prop.type, Nullable) else f"self.{prop.name}"
    return [
        f"for row in {items}:",
        f"    if {_tagged(row, 'row')}:",
        f"    {_refusal('oneOf', row)}",
    ]


def _listed(prop: Property, family: Family) -> TaggedRow | None:
    """Return the array with a tag of which a position is a list."""
    kind = not_null(prop.type)
    items = kind.of if isinstance(kind, ArrayOf) else None
    found = family.definitions[items.name] if isinstance(items, RefTo) else None
    return found if isinstance(found, TaggedRow) else None


def _is_checked_in_lists(row: TaggedRow, family: Family) -> bool:
    """Return whether an array is in lists of other arrays only: they check it."""
    owners = family.definitions.values()
    rows = [owner for owner in owners if isinstance(owner, Row)]
    in_lists = [prop for owner in rows for prop in owner.properties if _listed(prop, family) is row]
    return len(in_lists) == sum(references(owner).count(row.name) for owner in owners)


def _refusal(rule: str, row: Row) -> str:
    return f"    raise ValueError({f'{rule} of {row.name!r}'!r})"


def check_tables(family: Family) -> list[str]:
    """Return the names that ``__post_init__`` looks up, which follow all classes."""
    rows = [d for d in family.definitions.values() if isinstance(d, TaggedRow)]
    return [line for row in rows if row.differing for line in _tables(row)]


def _tagged(row: TaggedRow, it: str) -> str:
    """Return the test that an array with a tag is broken; most tags cost a look-up, and no call."""
    name, tag = snake(row.name).upper(), f"{it}.{row.properties[row.tag].name}"
    types, checks = _by_type(row), _by_test(row)
    known = "in" if row.open_arm else "not in"
    joined = "and" if row.open_arm else "or"
    broken = f"({tag} {known} _{name}_CHECKS {joined} not _{name}_CHECKS[{tag}]({it}))"
    if None in checks:
        broken = f"not _{name}_CHECKS.get({tag}, _{name}_CHECKS[None])({it})"
    if not types:
        return broken
    value = f"{it}.{row.properties[row.differing[0]].name}"
    other = f"_{name}_TYPES.get({tag}) is not type({value})"
    integers = tuple(sorted(tag for tag, kind in types.items() if kind == "int"))
    if integers:
        among = f"== {integers[0]}" if len(integers) == 1 else f"in {integers}"
        bounds = f"type({value}) is int and {INT64[0]} <= {value} <= {INT64[1]}"
        other += f" and not ({tag} {among} and {bounds})"
    if not row.open_arm:
        return f"{other} and {broken}" if checks else other
    test = f"({tag} in _{name}_TYPES or {broken})" if checks else f"{tag} in _{name}_TYPES"
    return f"{other} and {test}"


def _tables(row: TaggedRow) -> list[str]:
    name = snake(row.name).upper()
    types, checks = _by_type(row), _by_test(row)
    lines: list[str] = []
    if types:
        # No value is of the type `object` itself: an integer has bounds as well.
        items = ", ".join(
            f"{tag}: {'object' if kind == 'int' else kind}" for tag, kind in types.items()
        )
        lines.append(f"_{name}_TYPES: Mapping[int, type] = {{{items}}}")
    if checks:
        items = ", ".join(f"{tag}: lambda row: {test}" for tag, test in checks.items())
        key = "int | None" if None in checks else "int"
        lines.append(f"_{name}_CHECKS: Mapping[{key}, Callable[[{row.name}], bool]] = {{{items}}}")
    return lines


def _by_type(row: TaggedRow) -> dict[int, str]:
    """Return the tags whose arms ask for no more than one type of one value."""
    differing = row.differing
    if len(differing) > 1:
        return {}
    found = [(tag, _exact(arm.properties[differing[0]].type)) for tag, arm in row.by_tag]
    return {tag: name for tag, name in sorted(found) if name is not None}


def _by_test(row: TaggedRow) -> dict[int | None, str]:
    """Return the tests of the other tags; that of None is for all tags of an open arm."""
    simple = _by_type(row)
    found = {tag: _test_of(arm, row) for tag, arm in row.by_tag if tag not in simple}
    rest = "True" if row.open_arm is None else _test_of(row.open_arm, row)
    return {**dict(sorted(found.items())), **({} if rest == "True" else {None: rest})}


def _test_of(arm: Row, row: TaggedRow) -> str:
    """Return the test of an arm: that of each position on which it may differ from the model."""
    values = [arm.properties[i] for i in row.differing]
    tests = [_test(prop.type, f"row.{prop.name}") for prop in values]
    return " and ".join(test for test in tests if test != "True") or "True"


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
        options = sorted(kind.options, key=lambda option: option != Scalar("null"))  # the quickest
        return f"({' or '.join(_test(option, value) for option in options)})"
    if isinstance(kind, Scalar):
        if kind == Scalar("integer", *INT64):  # of the keys of records
            return f"(type({value}) is int and {INT64[0]} <= {value} <= {INT64[1]})"
        given = arguments(kind)
        is_plain = given == repr(scalar_words(kind)) and kind.kind != "integer"
        return type_test(kind, value) if is_plain else f"is_scalar({value}, {given})"
    assert isinstance(kind, Anything)  # noqa: S101 - the builder refuses other types
    return "True"
