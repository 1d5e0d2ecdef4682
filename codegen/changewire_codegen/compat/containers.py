"""Objects, arrays and maps: what came, what went, and what stands in both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from changewire_codegen.compat.arms import arm_nodes
from changewire_codegen.compat.differences import MISSING, Comparison, Loss, Losses, Pair
from changewire_codegen.compat.places import ENTRY, ITEM, At, Step
from changewire_codegen.compat.rules import Side
from changewire_codegen.compat.samples import sample
from changewire_codegen.compat.scalars import compare_bound
from changewire_codegen.compat.unions import compare_arms

_NO_END = float("inf")


def compare_objects(found: Comparison, pair: Pair) -> None:
    """Compare objects, or unions of them."""
    if "oneOf" in {*pair.old.node, *pair.new.node}:
        compare_arms(found, pair, compare_object)
    else:
        compare_object(found, pair, ())


def compare_rows(found: Comparison, pair: Pair) -> None:
    """Compare arrays with positions, or unions of them."""
    if "oneOf" in {*pair.old.node, *pair.new.node}:
        compare_arms(found, pair, compare_row)
    else:
        compare_row(found, pair, ())


def compare_object(found: Comparison, pair: Pair, tag: tuple[Step, ...]) -> None:
    """Compare two objects: their properties but for the tag, which are required, their rule."""
    old, new = pair.old.node["properties"], pair.new.node["properties"]
    for name in [*new, *(name for name in old if name not in new)]:
        if name not in old:
            place = (pair.new.at("properties", name), "")
            found.add("property-added", pair, place, ("", name))
        elif name not in new:
            place = (pair.old.at("properties", name), "")
            found.add("property-removed", pair, place, (name, ""))
        elif ("name", name) not in tag:
            _below(found, pair, "properties", name, ("name", name))
    _compare_required(found, pair)
    _compare_alone(found, pair)
    _compare_rule(found, pair)


def _compare_alone(found: Comparison, pair: Pair) -> None:
    """Compare which property the whole message may be the value of."""
    old, new = (
        {name for name, node in at.node["properties"].items() if "x-alone" in node}
        for at in (pair.old, pair.new)
    )
    for name in sorted(old ^ new):
        at = pair.new if name in new else pair.old
        prop = at.at("properties", name)
        lost = Loss(None, tuple(_samples(prop)))
        if name in new:
            found.add("alone-added", pair, (prop, "/x-alone"), ("", name), {"writers": lost})
        else:
            found.add("alone-removed", pair, (prop, "/x-alone"), (name, ""), {"readers": lost})


def _samples(at: At) -> list[Any]:
    try:
        return [sample(at)]
    except LookupError:
        return []


def _below(found: Comparison, pair: Pair, keyword: str, where: str | int, step: Step) -> None:
    old, new = pair.old.at(keyword, where), pair.new.at(keyword, where)
    found.compare(found, pair.to(old, new, step))


def _compare_required(found: Comparison, pair: Pair) -> None:
    old, new = (at.node.get("required", ()) for at in (pair.old, pair.new))
    for name in sorted({*old} ^ {*new}):
        lost = Loss(
            {"type": "object", "not": {"required": [name]}}, (MISSING,), step=("name", name)
        )
        if name in new:
            place = (pair.new, "/required")
            found.add("required-added", pair, place, ("", name), {"readers": lost})
        else:
            place = (pair.new if "required" in pair.new.node else pair.old, "/required")
            found.add("required-removed", pair, place, (name, ""), {"writers": lost})


def _compare_rule(found: Comparison, pair: Pair) -> None:
    old, new = (_rule(at) for at in (pair.old, pair.new))
    if old != new:
        rule = "rule-changed" if old and new else "rule-added" if new else "rule-removed"
        place = (pair.new, "/if") if new else (pair.old, "/if")
        found.add(rule, pair, place, (old, new))


def _rule(at: At) -> dict[str, Any]:
    return {keyword: at.node[keyword] for keyword in ("if", "then") if keyword in at.node}


def compare_row(found: Comparison, pair: Pair, tag: tuple[Step, ...]) -> None:
    """Compare two arrays position by position, but for the tag."""
    counts = [len(at.node["prefixItems"]) for at in (pair.old, pair.new)]
    for i in range(min(counts)):
        if ("index", i) not in tag:
            _below(found, pair, "prefixItems", i, ("index", i))
    _compare_openness(found, pair)
    losses: Losses = {"readers": _row_loss(pair.old), "writers": _row_loss(pair.new)}
    # An open array takes the positions that only the other one names.
    added = _without(pair, "writers") if _is_open(pair.old) else pair
    removed = _without(pair, "readers") if _is_open(pair.new) else pair
    for i in range(counts[0], counts[1]):
        place = pair.new.at("prefixItems", i)
        found.add("position-added", added, (place, ""), ("", place.node["title"]), losses)
    for i in range(counts[1], counts[0]):
        place = pair.old.at("prefixItems", i)
        found.add("position-removed", removed, (place, ""), (place.node["title"], ""), losses)


def _without(pair: Pair, side: Side) -> Pair:
    return replace(pair, sides=tuple(other for other in pair.sides if other != side))


def _compare_openness(found: Comparison, pair: Pair) -> None:
    """Compare whether positions may be without a name: producers write none of these."""
    old, new = (_is_open(at) for at in (pair.old, pair.new))
    if old != new:
        found.add("row-opened" if new else "row-closed", pair, (pair.new, ""), ("", ""), {})


def _is_open(at: At) -> bool:
    return "maxItems" not in at.node


def _row_loss(at: At) -> Loss:
    """Return what is lost where an array has another length: all of it."""
    return Loss({"type": "array"}, tuple(_samples(at)))


def compare_lists(found: Comparison, pair: Pair) -> None:
    """Compare arrays of any length: how many elements, and what each is."""
    for keyword in ("minItems", "maxItems"):
        default = 0 if keyword == "minItems" else _NO_END
        bounds = (pair.old.node.get(keyword, default), pair.new.node.get(keyword, default))
        compare_bound(found, pair, keyword, bounds, _lists)
    found.compare(found, pair.to(_child(pair.old, "items"), _child(pair.new, "items"), ITEM))


def compare_maps(found: Comparison, pair: Pair) -> None:
    """Compare maps by their values."""
    old, new = (_child(at, "additionalProperties") for at in (pair.old, pair.new))
    found.compare(found, pair.to(old, new, ENTRY))


def _child(at: At, keyword: str) -> At:
    """Return what stands below a keyword; where it does not stand, any value."""
    return at.at(keyword) if keyword in at.node else At(at.family, at.file, at.pointer, {})


def _lists(keyword: str, loose: float, tight: float, at: At) -> Loss:
    sizes = [tight - 1, loose] if keyword == "minItems" else [tight + 1, loose]
    try:
        item = sample(_child(at, "items"))
    except LookupError:
        return Loss()
    made = [[item] * int(size) for size in sizes if 0 <= size <= _LONGEST]
    return Loss(None, tuple(made))


_LONGEST = 1000
"""Of the arrays that are made to show what a bound refuses."""


def object_as_map(found: Comparison, pair: Pair) -> None:
    """Compare an object with a map that takes it: each property with the map's values."""
    for one in _arms(pair):
        named = one.old if "properties" in one.old.node else one.new
        for name in named.node["properties"]:
            old, new = (
                at.at("properties", name) if at is named else _child(at, "additionalProperties")
                for at in (one.old, one.new)
            )
            found.compare(found, one.to(old, new, ("name", name)))


def _arms(pair: Pair) -> list[Pair]:
    """Return a pair for each arm, where one side is a union."""
    if "oneOf" in pair.old.node:
        return [pair.to(arm, pair.new, None) for arm in arm_nodes(pair.old)]
    if "oneOf" in pair.new.node:
        return [pair.to(pair.old, arm, None) for arm in arm_nodes(pair.new)]
    return [pair]


def map_as_object(found: Comparison, pair: Pair) -> None:
    """Compare a map with an object that may take it: the map names none of its properties."""
    object_as_map(found, pair)
    named = pair.new if "properties" in pair.new.node else pair.old
    rule = "required-added" if named is pair.new else "required-removed"
    for name in named.node.get("required", ()):
        words = ("", name) if named is pair.new else (name, "")
        loss = Loss(None, ({},))
        losses: Losses = {"readers": loss, "writers": loss}
        found.add(rule, pair, (named, "/required"), words, losses)


def row_as_list(found: Comparison, pair: Pair) -> None:
    """Compare an array with positions with one of any length: how many, and what each is."""
    for one in _arms(pair):
        named = one.old if "prefixItems" in one.old.node else one.new
        other = one.new if named is one.old else one.old
        count = len(named.node["prefixItems"])
        _compare_count(found, one, named, other)
        for i in range(count):
            old, new = (
                at.at("prefixItems", i) if at is named else _child(at, "items")
                for at in (one.old, one.new)
            )
            found.compare(found, one.to(old, new, ("index", i)))


def _compare_count(found: Comparison, pair: Pair, named: At, other: At) -> None:
    """Compare the number of positions with the bounds of a list."""

    def lost(*_: object) -> Loss:
        return _row_loss(named)

    for keyword, default in (("minItems", 0), ("maxItems", _NO_END)):
        limit = other.node.get(keyword, default)
        size = named.node.get(keyword, _NO_END)
        if (limit > size) if keyword == "minItems" else (limit < size):
            bounds = (size, limit) if named is pair.old else (limit, size)
            compare_bound(found, pair, keyword, bounds, lost)
