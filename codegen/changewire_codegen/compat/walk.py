"""Two nodes: which types came and went, and then what each type says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from changewire_codegen.compat.containers import (
    compare_lists,
    compare_maps,
    compare_objects,
    compare_rows,
    map_as_object,
    object_as_map,
    row_as_list,
)
from changewire_codegen.compat.differences import Comparison, Loss, Pair, compare_annotations
from changewire_codegen.compat.rules import Side
from changewire_codegen.compat.samples import typical
from changewire_codegen.compat.scalars import compare_bytes, compare_numbers, compare_texts
from changewire_codegen.compat.shapes import TAKES, WORDS, ValueShape, shapes
from changewire_codegen.errors import SchemaError

Comparator = Callable[[Comparison, Pair], None]

_SAME: Final[Mapping[str, Comparator]] = {
    "base64": compare_bytes,
    "binary": compare_bytes,
    "integer": compare_numbers,
    "list": compare_lists,
    "map": compare_maps,
    "number": compare_numbers,
    "object": compare_objects,
    "row": compare_rows,
    "text": compare_texts,
}
"""What compares two descriptions of one type; the others have nothing more to say."""

_WIDER: Final[Mapping[tuple[str, str], Comparator]] = {
    ("integer", "number"): compare_numbers,
    ("number", "integer"): compare_numbers,
    ("object", "map"): object_as_map,
    ("map", "object"): map_as_object,
    ("row", "list"): row_as_list,
}
"""What compares two types of which the second may take what is of the first, or a part of it."""

_MOST_PAIRS: Final = 2_000
"""Of nodes that are compared in a family; hundreds are usual."""

_TEXT_RULES: Final = frozenset({"pattern", "minLength", "maxLength", "not", "enum", "const"})

_JSON_TYPES: Final[Mapping[str, str]] = {
    "binary": "string",
    "base64": "string",
    "datetime": "string",
    "double": "number",
    "list": "array",
    "map": "object",
    "row": "array",
    "text": "string",
}


def compare(found: Comparison, pair: Pair) -> None:
    """Compare what two nodes say of the same value, and all that is in it."""
    key = (pair.old.place, pair.new.place, pair.sides, pair.texts, _leniencies(pair))
    if key in found.compared:
        return
    found.compared.add(key)
    if len(found.compared) > _MOST_PAIRS:
        raise SchemaError(*pair.new.place, "too many ways lead here to compare them all")
    found.visit(pair)
    compare_annotations(found, pair)
    old, new = shapes(pair.old), shapes(pair.new)
    for word, shape in old.items():
        _one_side(found, pair, "readers", shape, new)
        if word in new and word in _SAME:
            _SAME[word](found, _refined(pair, shape, new[word]))
    for shape in new.values():
        _one_side(found, pair, "writers", shape, old)


def _leniencies(pair: Pair) -> frozenset[tuple[str, str]]:
    """Return the nodes on the way that count leniencies: they decide on verdicts below."""
    ways = (*pair.old_trace, *pair.new_trace)
    return frozenset(at.place for at, _ in ways if "x-leniency" in at.node)


def _one_side(
    found: Comparison, pair: Pair, side: Side, shape: ValueShape, others: Mapping[str, ValueShape]
) -> None:
    """Look for the type of the other side that takes the values of a type."""
    taker = _taker(shape, others)
    if taker is None:
        _lost(found, pair, side, shape, others)
        return
    if shape.word == "number" and "integer" in others and not _has_integers(pair, side):
        taker = others["integer"]
    if (shape.word, taker.word) in _WIDER:
        ordered = (shape, taker) if side == "readers" else (taker, shape)
        sides = tuple(s for s in pair.sides if s == side)
        if sides:
            refined = replace(_refined(pair, *ordered), sides=sides)
            _WIDER[shape.word, taker.word](found, refined)


def _has_integers(pair: Pair, side: Side) -> bool:
    """Return whether integers stand beside numbers, with bounds of their own."""
    return "integer" in shapes(pair.old if side == "readers" else pair.new)


def _taker(shape: ValueShape, others: Mapping[str, ValueShape]) -> ValueShape | None:
    if shape.word == "number" and {"integer", "double"} <= others.keys():
        return others["double"]
    for word in TAKES.get(shape.word, (shape.word, "any")):
        taker = others.get(word)
        if taker is None or (word != shape.word and _TEXT_RULES & taker.at.node.keys()):
            continue
        if (shape.word, word) == ("map", "object") and "oneOf" in taker.at.node:
            continue  # no map has a tag that is sure to be there
        return taker
    return None


def _lost(
    found: Comparison, pair: Pair, side: Side, shape: ValueShape, others: Mapping[str, ValueShape]
) -> None:
    """Note that the values of a type have no type on the other side."""
    own = {shape.word: shape}
    narrower = [other for other in others.values() if _taker(other, own) is shape]
    kind = "type"
    if not narrower:
        rule = "type-removed" if side == "readers" else "type-added"
    else:
        kind = "format" if shape.word == "text" else "type"
        ways = {"type": ("narrowed", "widened"), "format": ("added", "removed")}[kind]
        rule = f"{kind}-{ways[side == 'writers']}"
    word, other = WORDS[shape.word], " or ".join(WORDS[word] for word in others)
    words = (word, other) if side == "readers" else (other, word)
    condition = None
    if not narrower and shape.word != "any":
        condition = {"type": _JSON_TYPES.get(shape.word, shape.word)}
    loss = Loss(condition, tuple(typical(shape)))
    found.add(rule, _side(pair, side, shape), (pair.new, ""), words, {side: loss})


def _side(pair: Pair, side: Side, shape: ValueShape) -> Pair:
    """Return a pair whose way on one side, the only one that is asked, leads to a type."""
    asked = replace(pair, sides=tuple(s for s in pair.sides if s == side))
    if side == "readers":
        return replace(asked, old=shape.at, old_trace=(*pair.old_trace, *shape.trace))
    return replace(asked, new=shape.at, new_trace=(*pair.new_trace, *shape.trace))


def _refined(pair: Pair, old: ValueShape, new: ValueShape) -> Pair:
    """Return the pair of the nodes that say more about values of one type."""
    return replace(
        pair,
        old=old.at,
        new=new.at,
        old_trace=(*pair.old_trace, *old.trace),
        new_trace=(*pair.new_trace, *new.trace),
    )
