"""Unions: which arms came and went, and who takes what they took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from changewire_codegen.compat.arms import Arms, Key, Tag, arms_of, child, chosen, condition_of
from changewire_codegen.compat.differences import (
    Comparison,
    Loss,
    Losses,
    Pair,
    compare_annotations,
)
from changewire_codegen.compat.places import At
from changewire_codegen.compat.rules import Side
from changewire_codegen.compat.samples import sample

CompareArm = Callable[[Comparison, Pair, Tag], None]

_UNKNOWN = ("unknown kind", -(2**31))
"""Tags that no arm knows."""


@dataclass(frozen=True)
class _Both:
    """Two unions, and what compares their arms."""

    found: Comparison
    pair: Pair
    old: Arms
    new: Arms
    compare_arm: CompareArm


def compare_arms(found: Comparison, pair: Pair, compare_arm: CompareArm) -> None:
    """Compare two unions, or a union and an object that is one of its arms.

    Args:
        found: Takes the differences.
        pair: The unions.
        compare_arm: Compares two arms, but for the tag.
    """
    new = arms_of(pair.new, arms_of(pair.old))
    old = arms_of(pair.old, new)
    if (old.tag, old.nested) != (new.tag, new.nested):
        losses: Losses = {"readers": _any_arm(old), "writers": _any_arm(new)}
        found.add("tag-changed", pair, (pair.new, ""), (_tag(old), _tag(new)), losses)
        return
    both = _Both(found, pair, old, new, compare_arm)
    for key in [*new.known, *(key for key in old.known if key not in new.known)]:
        _compare_key(both, key)
    _compare_opened(both)


def _compare_key(both: _Both, key: Key) -> None:
    """Compare what takes the values of one tag."""
    before, now = both.old.known.get(key), both.new.known.get(key)
    if before is not None and now is not None:
        _compare_takers(both, before, now, texts=True)
    elif now is not None and both.old.opened is not None:
        words = (_title(both.old.opened), _arm(now, key))
        both.found.add("arm-named", both.pair, (both.pair.new, ""), words)
        _compare_takers(both, chosen(both.old.opened, both.old.tag, key), now, texts=False)
    elif before is not None and both.new.opened is not None:
        words = (_arm(before, key), _title(both.new.opened))
        both.found.add("arm-unnamed", both.pair, (both.pair.new, ""), words)
        _compare_takers(both, before, chosen(both.new.opened, both.new.tag, key), texts=False)
    elif now is not None:
        _one_sided(both, "writers", "arm-added", now, key)
    elif before is not None:
        _one_sided(both, "readers", "arm-removed", before, key)


def _compare_takers(both: _Both, old: At, new: At, *, texts: bool) -> None:
    pair = replace(both.pair.to(old, new, None), texts=both.pair.texts and texts)
    both.found.visit(pair)
    compare_annotations(both.found, pair)
    both.compare_arm(both.found, pair, both.old.tag)


def _compare_opened(both: _Both) -> None:
    """Compare what takes the tags that no arm knows."""
    old, new = both.old.opened, both.new.opened
    if old is not None and new is not None:
        _compare_takers(both, old, new, texts=True)
    elif old is not None:
        _one_sided(both, "readers", "open-arm-removed", old, None)
    elif new is not None:
        _one_sided(both, "writers", "open-arm-added", new, None)


def _one_sided(both: _Both, side: Side, rule: str, arm: At, key: Key | None) -> None:
    """Note an arm whose messages the other side does not accept."""
    tag = both.old.tag
    condition = None if key is None else condition_of(tag, key)
    loss = Loss(condition, tuple(_samples(arm, tag, key or _UNKNOWN)))
    name = _title(arm) if key is None else _arm(arm, key)
    words = (name, "") if side == "readers" else ("", name)
    pair = both.pair.to(arm, both.pair.new, None)
    if side == "writers":
        pair = both.pair.to(both.pair.old, arm, None)
    both.found.add(rule, pair, (both.pair.new, ""), words, {side: loss})


def _samples(arm: At, tag: Tag, key: Key) -> list[Any]:
    """Return a value of an arm with the values of a tag."""
    try:
        value = sample(arm)
    except LookupError:
        return []
    for (kind, where), own in zip(tag, key, strict=False):
        node = child(arm, (kind, where))
        is_integer = node is not None and node.node.get("type") == "integer"
        if key is _UNKNOWN:
            value[where] = _UNKNOWN[1] if is_integer else _UNKNOWN[0]
        else:
            value[where] = own
    return [value]


def _any_arm(arms: Arms) -> Loss:
    found = [*arms.known.items(), *([(_UNKNOWN, arms.opened)] if arms.opened else ())]
    values = [value for key, arm in found for value in _samples(arm, arms.tag, key)]
    return Loss(None, tuple(values))


def _arm(at: At, key: Key) -> str:
    value = ", ".join(map(str, key[:-1]))
    return f"{_title(at)} ({value})"


def _title(at: At) -> str:
    return str(at.node["title"])


def _tag(arms: Arms) -> str:
    return ", ".join(str(where) for _, where in arms.tag) or "nothing"
