"""What a node says to people and to the generator, and no message shows."""

from __future__ import annotations

from typing import Any, Final

from changewire_codegen.compat.differences import Comparison, Pair
from changewire_codegen.compat.places import At
from changewire_codegen.compat.rules import SIDES

_TEXTS: Final = ("$schema", "$id", "$comment", "description", "examples")
_NAMES: Final = {
    "title": "title-changed",
    "$ref": "reference-changed",
    "x-repeated": "repeated-changed",
}


def compare_annotations(found: Comparison, pair: Pair) -> None:
    """Compare the keywords of two nodes that refuse no message."""
    if pair.sides != SIDES or not pair.texts:
        return
    for keyword in _TEXTS:
        if pair.old.node.get(keyword) != pair.new.node.get(keyword):
            found.add("text-changed", pair, _place(pair, keyword))
    for keyword, rule in _NAMES.items():
        old, new = (at.node.get(keyword) for at in (pair.old, pair.new))
        if old != new and (keyword == "x-repeated" or (old and new)):
            found.add(rule, pair, _place(pair, keyword), (old, new))
    _compare_leniencies(found, pair)


def _compare_leniencies(found: Comparison, pair: Pair) -> None:
    old, new = (_leniencies(at) for at in (pair.old, pair.new))
    for name in sorted(old | new):
        place = _place(pair, "x-leniency")
        if name not in new:
            found.add("leniency-removed", pair, place, (name, ""))
        elif name not in old:
            found.add("leniency-added", pair, place, ("", name))
        elif old[name] != new[name]:
            found.add("leniency-changed", pair, place, (name, name))


def _leniencies(at: At) -> dict[str, Any]:
    return dict(at.node.get("x-leniency", {}))


def _place(pair: Pair, keyword: str) -> tuple[At, str]:
    """Return the place of a keyword in the new schemas, or where it was in the old ones."""
    return (pair.new if keyword in pair.new.node else pair.old), f"/{keyword}"
