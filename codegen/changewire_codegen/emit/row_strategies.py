"""Strategies for broken unions of arrays."""

from __future__ import annotations

from collections.abc import Callable

from changewire_codegen.emit.row_validators import known_constants
from changewire_codegen.nodes import Row, RowUnion, TaggedRow, Type
from changewire_codegen.writer import Writer

Spoil = Callable[[Type, str], str]
"""Returns the strategy for what is not of a type, below a definition."""


def broken_tagged_row(row: TaggedRow, names: tuple[str, list[str]], writer: Writer) -> None:
    """Write the strategies of an array whose tag fits no arm, or whose values not the tag."""
    valid, broken = names
    known = tuple(sorted(tag for tag, _ in row.by_tag))
    other = "drawing.not_of('integer')"
    if row.open_arm is None:
        other += f" | drawing.INT64.filter(lambda tag: {_none_of(known)})"
    with writer.block("return st.one_of("):
        for name in broken:
            writer(f"{name}(),")
        writer(f"drawing.broken_row({valid}(), {{{row.tag}: {other}}}{_open(row)}),")
    writer(")")


def broken_row_union(
    union: RowUnion, spoil: Spoil, function: Callable[[str], str], writer: Writer
) -> None:
    """Write the strategies of arrays that are not an arm: by their constants, or the rest."""
    lengths = {arm.length for arm in union.choices}
    with writer.block("return st.one_of("):
        for arm in union.choices:
            row, others = arm.row, tuple(sorted(lengths - {arm.length}))
            for i, prop in enumerate(row.properties):
                if i in union.tags:
                    continue
                spoilt = spoil(prop.type, row.name)
                if i == union.nested and others:
                    spoilt = f"drawing.not_as_long({spoilt}, {others!r})"
                broken = f"{function(row.name)}(), {{{i}: {spoilt}}}{_open(row)}"
                writer(f"drawing.broken_row({broken}),")
        for i, known in known_constants(union).items():
            other = f"drawing.INT64.filter(lambda tag: {_none_of(known)})"
            spoilt = f"drawing.not_of('integer') | {other}"
            broken = f"{function(union.name)}(), {{{i}: {spoilt}}}{_open(union.choices[0].row)}"
            writer(f"drawing.broken_row({broken}),")
    writer(")")


def _none_of(known: tuple[int, ...]) -> str:
    return f"tag != {known[0]}" if len(known) == 1 else f"tag not in {known!r}"


def _open(row: Row) -> str:
    return ", is_open=True" if row.is_open else ""
