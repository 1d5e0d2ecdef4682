"""Unions: which arms came and went, and who takes what they took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TypeAlias

from changewire_codegen.compat.differences import Comparison, Pair, change, compare_annotations
from changewire_codegen.compat.places import At, shapes, target, values
from changewire_codegen.nodes import RowUnion, TaggedRow, Union

Tag: TypeAlias = tuple[str | int, ...]
Key: TypeAlias = tuple[object, ...]
_OPENED: Key = ()

CompareArm: TypeAlias = Callable[[Comparison, Pair, Tag], None]


@dataclass(frozen=True)
class Arms:
    """A union, or an object or array that is a union of itself: its arms by the values of a tag.

    The tag is a property or are positions; ``nested`` is one whose length distinguishes the rest.
    The arm ``opened`` takes what no other knows.
    """

    tag: Tag = ()
    nested: int | None = None
    known: dict[Key, At] = field(default_factory=dict)
    opened: At | None = None


def compare_arms(found: Comparison, pair: Pair, compare_arm: CompareArm) -> None:
    """Compare two unions, or a union and one object or array, which is then its only arm.

    ``compare_arm`` compares two arms, but for the tag.
    """
    new = _arms(pair.new, _arms(pair.old, Arms()))
    old = _arms(pair.old, new)
    place = (pair.new, "")
    if (old.tag, old.nested) != (new.tag, new.nested):
        words = tuple(", ".join(map(str, arms.tag)) or "nothing" for arms in (old, new))
        found.add("ONEOF_SAME_TAG", pair, place, (words[0], words[1]))
        return

    for key in {**new.known, **old.known, _OPENED: None}:
        before, now = (arms.known.get(key, arms.opened) for arms in (old, new))
        is_old, is_new = key in old.known, key in new.known
        if before and now:
            if is_old != is_new:
                rule = "ONEOF_ARM_NO_SPLIT" if is_new else "ONEOF_ARM_NO_MERGE"
                names = (_title(before, key if is_old else ()), _title(now, key if is_new else ()))
                found.add(rule, pair, place, names)
            both = replace(pair, old=before, new=now, texts=pair.texts and is_old == is_new)
            found.is_new(both)
            compare_annotations(found, both)
            compare_arm(found, both, old.tag)
        elif arm := before or now:
            both = replace(pair, old=before or pair.old, new=now or pair.new)
            rule = f"{'ONEOF_ARM' if key else 'ONEOF_OPEN_ARM'}_{change(before, now)}"
            found.add(rule, both, place, (_title(arm, key), _title(arm, key)))


def _title(at: At, key: Key = ()) -> str:
    title = str(at.node["title"])
    return f"{title} ({', '.join(map(str, key[:-1]))})" if key else title


def _arms(at: At, other: Arms) -> Arms:
    """Return the arms of a union, distinguished as those of the other if it does not say how."""
    tag, nested = other.tag, other.nested
    nodes = [at]
    if "oneOf" in at.node:
        tag, nested = _distinguished(at)
        nodes = [target(at.at("oneOf", i)) for i in range(len(at.node["oneOf"]))]
        if nested is None and other.tag == tag:
            nested = other.nested
    keys = [(node, list(_keys(node, tag, nested))) for node in nodes]
    known = {key: node for node, own in keys for key in own}
    return Arms(tag, nested, known, next((node for node, own in keys if not own), None))


def _distinguished(at: At) -> tuple[Tag, int | None]:
    union = at.family.definitions[str(at.node["title"])]
    if isinstance(union, RowUnion):
        return union.tags, union.nested
    return ((union.tag,) if isinstance(union, Union | TaggedRow) else ()), None


def _keys(arm: At, tag: Tag, nested: int | None) -> Iterator[Key]:
    """Yield the values by which an arm is chosen; none if it takes what is left."""
    keyword = "properties" if "properties" in arm.node else "prefixItems"
    listed = [values(arm.value(keyword, where).node) for where in tag]
    for key in product(*listed):
        yield (*key, None if nested is None else _length(arm, nested))


def _length(arm: At, position: int) -> int:
    shape = next(iter(shapes(arm.at("prefixItems", position)).values()))
    return len(shape.node.get("prefixItems", ()))
