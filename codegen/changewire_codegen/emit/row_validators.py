"""Checks of unions of arrays: which arm an array is, and what is wrong if it is not one."""

from __future__ import annotations

from changewire_codegen.emit.reports import CHECK, below, refuse_length, report, signature
from changewire_codegen.names import snake
from changewire_codegen.nodes import Family, RefTo, Row, RowUnion, TaggedRow
from changewire_codegen.writer import Writer


def tagged_row(row: TaggedRow, writer: Writer) -> None:
    """Write the check of an array whose tag says the contents of the other positions."""
    known = [tag for tags in row.tags for tag in tags]
    expected = "integer" if row.open_arm else _one_of(known)
    with writer.block(f"def {signature(row.name)}:"):
        refuse_length(row, writer)
        writer(f"tag = value[{row.tag}]")
        other = "" if row.open_arm is None else f", _{snake(row.open_arm.name)}"
        writer(f"check = {_table(row.name)}.get(tag{other}) if type(tag) is int else None")
        with writer.block("if check is not None:"):
            writer("check(value, at, strict, out)")
        with writer.block("else:"):
            rule = "type" if row.open_arm else "oneOf"
            report(below(str(row.tag)), rule, expected, "tag", writer)


def tag_table(row: TaggedRow, writer: Writer) -> None:
    """Write the check of each tag; after all functions."""
    arms = zip(row.arms, row.tags, strict=True)
    checks = ((tag, f"_{snake(arm.name)}") for arm, tags in arms for tag in tags)
    writer.table(f"{_table(row.name)}: Mapping[int, {CHECK}]", checks)


def row_union(union: RowUnion, family: Family, writer: Writer) -> None:
    """Write the check of a union whose arms differ in constants, or in an inner length."""
    arms = row_arms(union, family)
    with writer.block(f"def {signature(union.name)}:"):
        refuse_length(arms[0], writer)
        for place, i in enumerate(union.tags):
            known = sorted({key[place] for keys in union.keys for key in keys})
            broken = f"!= {known[0]}" if len(known) == 1 else f"not in {tuple(known)}"
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
            _choose_by_length(union.nested, writer, is_open=holds_open(union, family))


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


def key_table(union: RowUnion, family: Family, writer: Writer) -> None:
    """Write the checks of each set of constants, by the length of the inner array."""
    found: dict[tuple[int, ...], list[tuple[int, str]]] = {}
    for arm, keys in zip(row_arms(union, family), union.keys, strict=True):
        for key in keys:
            found.setdefault(key, []).append((nested_length(arm, union, family), arm.name))
    checks = [
        (key, "{" + ", ".join(f"{size}: _{snake(name)}" for size, name in sorted(arms)) + "}")
        for key, arms in sorted(found.items())
    ]
    writer.table(f"{_table(union.name)}: Mapping[tuple[int, ...], Mapping[int, {CHECK}]]", checks)


def nested_length(arm: Row, union: RowUnion, family: Family) -> int:
    """Return the number of positions of the inner array of an arm; 0 if no arm has one."""
    inner = nested_row(arm, union, family)
    return 0 if inner is None else len(inner.positions)


def nested_row(arm: Row, union: RowUnion, family: Family) -> Row | None:
    """Return the inner array of an arm by whose length the union distinguishes arms."""
    kind = None if union.nested is None else arm.positions[union.nested].type
    inner = family.definitions[kind.name] if isinstance(kind, RefTo) else None
    return inner if isinstance(inner, Row) else None


def holds_open(union: RowUnion, family: Family) -> bool:
    """Return whether the inner array of an arm is open."""
    rows = [nested_row(arm, union, family) for arm in row_arms(union, family)]
    return any(row.is_open for row in rows if row is not None)


def row_arms(union: RowUnion, family: Family) -> list[Row]:
    """Return the arms of a union."""
    arms = [family.definitions[name] for name in union.arms]
    return [arm for arm in arms if isinstance(arm, Row)]


def tuple_of(items: list[str]) -> str:
    """Return the expression of a tuple."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _table(name: str) -> str:
    return f"_{snake(name).upper()}_ARMS"


def _one_of(values: list[int]) -> str:
    words = ", ".join(map(str, sorted(values)))
    return words if len(values) == 1 else f"one of {words}"
