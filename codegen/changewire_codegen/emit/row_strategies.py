"""Strategies for broken unions of arrays."""

from __future__ import annotations

from collections.abc import Callable

from changewire_codegen.emit.row_validators import nested_length, row_arms
from changewire_codegen.nodes import Family, Row, RowUnion, TaggedRow, Type
from changewire_codegen.writer import Writer

Spoil = Callable[[Type, str], str]
"""Returns the strategy for what is not of a type, below a definition."""


def broken_tagged_row(row: TaggedRow, names: tuple[str, list[str]], writer: Writer) -> None:
    """Write the strategies of an array whose tag fits no arm, or whose values not the tag."""
    valid, broken = names
    known = tuple(sorted(tag for tags in row.tags for tag in tags))
    other = "drawing.not_of('integer')"
    if row.open_arm is None:
        other += f" | drawing.INT64.filter(lambda tag: {_none_of(known)})"
    with writer.block("return st.one_of("):
        for name in broken:
            writer(f"{name}(),")
        writer(f"drawing.broken_row({valid}(), {{{row.tag}: {other}}}{_open(row)}),")
    writer(")")


def broken_row_union(
    union: RowUnion, family: Family, spoil: Spoil, function: Callable[[str], str], writer: Writer
) -> None:
    """Write the strategies of arrays that are not an arm: by their constants, or the rest."""
    with writer.block("return st.one_of("):
        for arm in row_arms(union, family):
            others = _other_lengths(arm, union, family)
            for i, prop in enumerate(arm.positions):
                if i in union.tags:
                    continue
                spoilt = spoil(prop.type, arm.name)
                if i == union.nested and others:
                    spoilt = f"drawing.not_as_long({spoilt}, {others!r})"
                row = f"{function(arm.name)}(), {{{i}: {spoilt}}}{_open(arm)}"
                writer(f"drawing.broken_row({row}),")
        for place, i in enumerate(union.tags):
            known = tuple(sorted({key[place] for keys in union.keys for key in keys}))
            other = f"drawing.INT64.filter(lambda tag: {_none_of(known)})"
            spoilt = f"drawing.not_of('integer') | {other}"
            first = row_arms(union, family)[0]
            row = f"{function(union.name)}(), {{{i}: {spoilt}}}{_open(first)}"
            writer(f"drawing.broken_row({row}),")
    writer(")")


def _none_of(known: tuple[int, ...]) -> str:
    return f"tag != {known[0]}" if len(known) == 1 else f"tag not in {known!r}"


def _open(row: Row) -> str:
    return ", is_open=True" if row.is_open else ""


def _other_lengths(arm: Row, union: RowUnion, family: Family) -> tuple[int, ...]:
    """Return the lengths by which the inner array would be that of another arm."""
    own = nested_length(arm, union, family)
    found = {nested_length(other, union, family) for other in row_arms(union, family)}
    return tuple(sorted(found - {own}))
