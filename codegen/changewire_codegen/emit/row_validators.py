"""Checks of unions of arrays: which arm an array is, and what is wrong if it is not one."""

from __future__ import annotations

from collections.abc import Sequence

from changewire_codegen.names import escape_pointer, snake
from changewire_codegen.nodes import Row, RowUnion, TaggedRow
from changewire_codegen.writer import Writer

CHECK = "Callable[[Any, str, bool, list[Issue]], None]"
"""Type of a check: value, its JSON Pointer, whether the check is strict, where issues go."""


def signature(name: str) -> str:
    """Return the signature of the check of a definition."""
    return f"_{snake(name)}(value: Any, at: str, strict: bool, out: list[Issue]) -> None"


def report(pointer: str, rule: str, expected: str, actual: str, writer: Writer) -> None:
    """Write the line that adds an issue; ``pointer`` and ``actual`` are expressions."""
    writer(f"out.append(({pointer}, {rule!r}, {expected!r}, {actual}))")


def below(name: str) -> str:
    """Return the expression of the pointer to a child."""
    return f"at + {'/' + escape_pointer(name)!r}"


def refuse_type(writer: Writer) -> None:
    """Write the check that the value is an object."""
    with writer.block("if not is_object(value, at, out):"):
        writer("return")


def refuse_length(row: Row, writer: Writer) -> None:
    """Write the check that the value is an array with as many positions as another."""
    is_open = ", is_open=True" if row.is_open else ""
    with writer.block(f"if not is_row(value, {len(row.properties)}, at, out{is_open}):"):
        writer("return")


def tagged_row(row: TaggedRow, writer: Writer) -> None:
    """Write the check of an array whose tag says the contents of the other positions."""
    with writer.block(f"def {signature(row.name)}:"):
        refuse_length(row, writer)
        writer(f"tag = value[{row.tag}]")
        other = "" if row.open_arm is None else f", _{snake(row.open_arm.name)}"
        writer(f"check = {_table(row.name)}.get(tag{other}) if type(tag) is int else None")
        with writer.block("if check is not None:"):
            writer("check(value, at, strict, out)")
        with writer.block("else:"):
            words = _one_of([tag for tag, _ in row.by_tag])
            rule, expected = ("type", "integer") if row.open_arm else ("oneOf", words)
            report(below(str(row.tag)), rule, expected, "tag", writer)


def tag_table(row: TaggedRow, writer: Writer) -> None:
    """Write the check of each tag; after all functions."""
    checks = ((tag, f"_{snake(arm.name)}") for tag, arm in row.by_tag)
    writer.table(f"{_table(row.name)}: Mapping[int, {CHECK}]", checks)


def row_union(union: RowUnion, writer: Writer) -> None:
    """Write the check of a union whose arms differ in constants, or in an inner length."""
    with writer.block(f"def {signature(union.name)}:"):
        refuse_length(union.choices[0].row, writer)
        for i, known in known_constants(union).items():
            broken = f"!= {known[0]}" if len(known) == 1 else f"not in {known}"
            rule = "const" if len(known) == 1 else "oneOf"
            with writer.block(f"if type(value[{i}]) is not int or value[{i}] {broken}:"):
                report(below(str(i)), rule, _one_of(known), f"value[{i}]", writer)
                writer("return")
        tags = tuple_of([f"value[{i}]" for i in union.tags])
        writer(f"checks = {_table(union.name)}.get({tags}, {{}})")
        with writer.block("if not checks:"):
            report("at", "oneOf", "constants of one variant", "value", writer)
        with writer.block("elif len(checks) == 1:"):
            writer("next(iter(checks.values()))(value, at, strict, out)")
        if union.nested is not None:
            is_open = any(arm.is_open for arm in union.choices)
            _choose_by_length(union.nested, writer, is_open=is_open)


def known_constants(union: RowUnion) -> dict[int, tuple[int, ...]]:
    """Return the constants at each position that has one in all arms, sorted."""
    keys = [key for arm in union.choices for key in arm.keys]
    columns = zip(*keys, strict=True)
    return {i: tuple(sorted({*column})) for i, column in zip(union.tags, columns, strict=True)}


def _choose_by_length(nested: int, writer: Writer, *, is_open: bool) -> None:
    """Write the choice by the length of the inner array; of open ones, the longest takes more."""
    inner, at = f"value[{nested}]", below(str(nested))
    with writer.block(f"elif type({inner}) is not list:"):
        report(at, "type", "array", inner, writer)
    size = f"min(len({inner}), max(checks))" if is_open else f"len({inner})"
    with writer.block(f"elif {size} not in checks:"):
        writer("words = ' or '.join(map(str, sorted(checks))) + ' positions'")
        writer(f"out.append(({at}, 'prefixItems', words, {inner}))")
    with writer.block("else:"):
        writer(f"checks[{size}](value, at, strict, out)")


def key_table(union: RowUnion, writer: Writer) -> None:
    """Write the checks of each set of constants, by the length of the inner array."""
    found: dict[tuple[int, ...], list[str]] = {}
    for arm in sorted(union.choices, key=lambda arm: (arm.length, arm.row.name)):
        for key in arm.keys:
            found.setdefault(key, []).append(f"{arm.length}: _{snake(arm.row.name)}")
    checks = [(key, f"{{{', '.join(arms)}}}") for key, arms in sorted(found.items())]
    writer.table(f"{_table(union.name)}: Mapping[tuple[int, ...], Mapping[int, {CHECK}]]", checks)


def tuple_of(items: list[str]) -> str:
    """Return the expression of a tuple."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _table(name: str) -> str:
    return f"_{snake(name).upper()}_ARMS"


def _one_of(values: Sequence[int]) -> str:
    words = ", ".join(map(str, sorted(values)))
    return words if len(values) == 1 else f"one of {words}"
