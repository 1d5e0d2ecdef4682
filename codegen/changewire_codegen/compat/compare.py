"""Two nodes: which types came and went, and then the rules of each type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Final

from jsonschema import Draft202012Validator

from changewire_codegen.compat.differences import (
    Comparison,
    Pair,
    change,
    compare_annotations,
    compare_op,
)
from changewire_codegen.compat.places import FORMATS, WORDS, At, Node, shapes, values
from changewire_codegen.compat.rules import BOUNDS, Side
from changewire_codegen.compat.unions import Tag, compare_arms
from changewire_codegen.keywords import integer_bounds

_BYTES: Final = {"x-minBytes": (0, 0), "x-maxBytes": (inf, inf)}
_TEXT_RULES: Final = frozenset({"pattern", "minLength", "maxLength", "not", "enum", "const"})


def compare(found: Comparison, pair: Pair) -> None:
    """Compare what two nodes say of the same value, and all that is in it."""
    if not found.is_new(pair):
        return
    compare_annotations(found, pair)
    old, new = shapes(pair.old), shapes(pair.new)
    for word in {**old, **new}:
        before, now = old.get(word, pair.old), new.get(word, pair.new)
        both = replace(pair, old=before, new=now)
        if word in old and word in new:
            if before.place != pair.old.place and now.place != pair.new.place:
                compare_annotations(found, both)
            if word in _SAME:
                _SAME[word](found, both)
        elif word in old and not _takes(new, word):
            _lost(found, both, word, new, "readers")
        elif word in new and not _takes(old, word):
            _lost(found, both, word, old, "writers")


def _takes(types: Mapping[str, At], word: str) -> bool:
    """Return whether one of several types takes all values of a type that is not one of them."""
    is_text = word in FORMATS and "text" in types
    return "any" in types or (is_text and not _TEXT_RULES & types["text"].node.keys())


def _lost(found: Comparison, pair: Pair, word: str, others: Mapping[str, At], side: Side) -> None:
    """Note that the values of a type have no type on the other side."""
    is_reader = side == "readers"
    kind, name = WORDS[word]
    if word == "text" and FORMATS & others.keys():
        rule = "STRING_FORMAT_NO_ADD" if is_reader else "STRING_FORMAT_NO_DELETE"
    elif word == "any":
        rule = "TYPE_NO_NARROW" if is_reader else "TYPE_NO_WIDEN"
    else:
        rule = "TYPE_NO_DELETE" if is_reader else "TYPE_NO_ADD"
    other = " or ".join(WORDS[other][1] for other in others)
    words = (name, other) if is_reader else (other, name)
    found.add(rule, pair, (pair.new, ""), words, {"type": kind})


def _object(found: Comparison, pair: Pair, tag: Tag) -> None:
    """Compare two objects: their properties but for the tag, which are required, their rule."""
    old, new = pair.old.node["properties"], pair.new.node["properties"]
    for name in {**new, **old}:
        if name not in old or name not in new:
            rule = f"PROPERTY_{change(name in old, name in new)}"
            at = (pair.new if name in new else pair.old).at("properties", name)
            found.add(rule, pair, (at, ""), (name, name))
        else:
            differs = compare_op if name in tag else compare
            differs(found, pair.value("properties", name))
    nodes = (pair.old.node, pair.new.node)
    required = [{*node.get("required", ())} for node in nodes]
    alone, flat = (
        [{name for name, n in node["properties"].items() if keyword in n} for node in nodes]
        for keyword in ("x-alone", "x-flat")
    )
    for subject, keyword, (was, has) in (
        ("REQUIRED", "required", required),
        ("ALONE", "properties", alone),
        ("FLAT", "properties", flat),
    ):
        for name in sorted(was ^ has):
            rule, lost = f"{subject}_{change(name in was, name in has)}", {"required": [name]}
            found.add(rule, pair, pair.place(keyword), (name, name), {"not": lost})


def _row(found: Comparison, pair: Pair, tag: Tag) -> None:
    """Compare two arrays position by position, but for the tag."""
    old, new = (len(at.node["prefixItems"]) for at in (pair.old, pair.new))
    was_open, is_open = ("maxItems" not in at.node for at in (pair.old, pair.new))
    if was_open != is_open:
        found.add("ARRAY_NO_OPEN" if is_open else "ARRAY_NO_CLOSE", pair, (pair.new, ""))
    for i in range(max(old, new)):
        if i < old and i < new:
            differs = compare_op if i in tag else compare
            differs(found, pair.value("prefixItems", i))
            continue
        at = (pair.new if i < new else pair.old).at("prefixItems", i)
        subject = "OPEN_POSITION" if (was_open if i < new else is_open) else "POSITION"
        found.add(f"{subject}_{change(i < old, i < new)}", pair, (at, ""), (at.node["title"],) * 2)


def _lists(found: Comparison, pair: Pair) -> None:
    _bounds(found, pair, {"minItems": (0, 0), "maxItems": (inf, inf)})
    compare(found, pair.value("items"))


def _numbers(found: Comparison, pair: Pair) -> None:
    if not _values(found, pair):
        nodes = (pair.old.node, pair.new.node)
        old, new = (integer_bounds(n) if n["type"] == "integer" else (-inf, inf) for n in nodes)
        _bounds(found, pair, {"minimum": (old[0], new[0]), "maximum": (old[1], new[1])})


def _texts(found: Comparison, pair: Pair) -> None:
    if _values(found, pair):
        return
    _bounds(found, pair, {"minLength": (0, 0), "maxLength": (inf, inf)})
    old, new = pair.old.node.get("pattern"), pair.new.node.get("pattern")
    if old != new:
        found.add(f"PATTERN_{change(old, new)}", pair, pair.place("pattern"), (old, new))


def _values(found: Comparison, pair: Pair) -> bool:
    """Compare lists of values; return whether there are any, which leave no more to compare."""
    old, new = values(pair.old.node), values(pair.new.node)
    ways = (("DELETE", old, new, pair.new.node), ("ADD", new, old, pair.old.node))
    for way, own, others, node in ways:
        lost = [value for value in own if not _allows(node, value)]
        if lost or (others and not own):
            name = ", ".join(map(str, lost)) or "all others"
            condition = {"enum": lost} if lost else None
            found.add(f"ENUM_VALUE_NO_{way}", pair, (pair.new, ""), (name, name), condition)
    return bool(old or new)


def _allows(node: Node, value: object) -> bool:
    names = ("const", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern")
    rules = {name: node[name] for name in names if name in node}
    if node["type"] == "integer":
        rules["minimum"], rules["maximum"] = integer_bounds(node)
    judge: Any = Draft202012Validator(rules)
    return bool(judge.is_valid(value))


def _bounds(found: Comparison, pair: Pair, defaults: Mapping[str, tuple[float, float]]) -> None:
    """Compare bounds, given what each side's is if it is not said."""
    for keyword, default in defaults.items():
        old = pair.old.node.get(keyword, default[0])
        new = pair.new.node.get(keyword, default[1])
        if old == new:
            continue
        is_lower = "min" in keyword
        is_reader = (new > old) == is_lower
        loose, tight = (old, new) if is_reader else (new, old)
        lost = None
        if (pair.old if is_reader else pair.new).node.get("type") == "integer":
            edge = {"maximum": tight - 1} if is_lower else {"minimum": tight + 1}
            lost = {"type": "integer", keyword: loose, **edge}
            if loose in edge.values():
                lost = {"enum": [loose]}
        rule = f"{BOUNDS[keyword][0]}_NO_{'RAISE' if new > old else 'LOWER'}"
        words = ["not given" if abs(bound) == inf else str(bound) for bound in (old, new)]
        found.add(rule, pair, pair.place(keyword), (words[0], words[1]), lost)


_SAME: Final[Mapping[str, Callable[[Comparison, Pair], None]]] = {
    "base64": partial(_bounds, defaults=_BYTES),
    "binary": partial(_bounds, defaults=_BYTES),
    "double": _numbers,
    "integer": _numbers,
    "list": _lists,
    "map": lambda found, pair: compare(found, pair.value("additionalProperties")),
    "object": partial(compare_arms, compare_arm=_object),
    "row": partial(compare_arms, compare_arm=_row),
    "text": _texts,
}
"""What compares two descriptions of one type; the others have nothing more to say."""
