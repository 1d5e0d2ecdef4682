"""Unions of arrays on the page of a family: which arm an array is, and what it holds."""

from __future__ import annotations

from changewire_codegen.emit.row_validators import nested_length, row_arms
from changewire_codegen.emit.scalars import type_words
from changewire_codegen.nodes import Family, RowUnion, TaggedRow


def row_union_lines(union: RowUnion, family: Family) -> list[list[str]]:
    """Return the rows of a table: the constants of each arm, and the length of an inner array."""
    arms = row_arms(union, family)
    names = [arms[0].positions[i].wire for i in union.tags]
    head = [*names, "model"]
    if union.nested is not None:
        head.insert(-1, f"positions of `{arms[0].positions[union.nested].wire}`")
    rows = [head, ["---"] * len(head)]
    for arm, keys in zip(arms, union.keys, strict=True):
        for key in keys:
            inner = [] if union.nested is None else [str(nested_length(arm, union, family))]
            rows.append(
                [*(f"`{tag}`" for tag in key), *inner, f"[{arm.name}](#{arm.name.lower()})"]
            )
    return rows


def tag_lines(row: TaggedRow, family: Family) -> list[list[str]]:
    """Return the rows of a table: what the other positions hold for each value of the tag."""
    others = [i for i in range(len(row.positions)) if i != row.tag and _differs(row, i)]
    tag = row.positions[row.tag].wire
    head = [f"`{tag}`", *(f"`{row.positions[i].wire}`" for i in others), "meaning"]
    rows = [head, ["---"] * len(head)]
    for arm, tags in zip(row.arms, row.tags, strict=True):
        shown = ", ".join(f"`{value}`" for value in tags) or "anything else"
        kinds = [type_words(arm.positions[i].type, family) for i in others]
        rows.append([shown, *kinds, arm.description])
    return rows


def _differs(row: TaggedRow, i: int) -> bool:
    return any(arm.positions[i].type != row.positions[i].type for arm in row.arms)
