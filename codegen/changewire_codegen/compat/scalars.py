"""Scalars: bounds, lengths, patterns and lists of values."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, nextafter
from typing import Any, Final

from changewire_codegen.compat.differences import Comparison, Loss, Losses, Pair
from changewire_codegen.compat.places import At
from changewire_codegen.compat.rules import Side, is_lower_bound
from changewire_codegen.compat.shapes import values
from changewire_codegen.keywords import integer_bounds

_LONGEST: Final = 100_000
"""Of the texts and bytes that are made to show what a bound refuses."""

_NO_BOUND: Final[Mapping[bool, float]] = {True: -inf, False: inf}


def compare_numbers(found: Comparison, pair: Pair) -> None:
    """Compare integers or numbers: their lists of values, or their bounds."""
    pair = _compare_values(found, pair)
    for keyword in ("minimum", "maximum"):
        old, new = _bound(pair.old, keyword), _bound(pair.new, keyword)
        compare_bound(found, pair, keyword, (old, new), _numbers)


def compare_texts(found: Comparison, pair: Pair) -> None:
    """Compare texts: their lists of values, or their lengths and patterns."""
    pair = _compare_values(found, pair)
    for keyword in ("minLength", "maxLength"):
        old, new = _length(pair.old, keyword), _length(pair.new, keyword)
        compare_bound(found, pair, keyword, (old, new), _texts)
    _compare_pattern(found, pair)


def compare_bytes(found: Comparison, pair: Pair) -> None:
    """Compare bytes, in Base64 text or as they are, by their lengths."""
    for keyword in ("x-minBytes", "x-maxBytes"):
        bounds = (_plain_bound(pair.old, keyword), _plain_bound(pair.new, keyword))
        compare_bound(found, pair, keyword, bounds, _bytes)


def compare_bound(
    found: Comparison,
    pair: Pair,
    keyword: str,
    bounds: tuple[float, float],
    lost: Callable[[str, float, float, At], Loss],
) -> None:
    """Compare one bound.

    Args:
        found: Takes the difference.
        pair: The nodes.
        keyword: The bound's.
        bounds: What was and what is; infinite if there is none.
        lost: Says what the values between a looser and a tighter bound are, given the keyword,
            both and the node that allows them.
    """
    old, new = bounds
    if old == new:
        return
    tighter = (new > old) == is_lower_bound(keyword)
    side: Side = "readers" if tighter else "writers"
    loose, tight = (old, new) if tighter else (new, old)
    writer = pair.old if tighter else pair.new
    listed = values(writer.node)
    loss = Loss({"enum": listed}, tuple(listed)) if listed else lost(keyword, loose, tight, writer)
    place = (pair.new, f"/{keyword}") if keyword in pair.new.node else (pair.old, f"/{keyword}")
    place = place if keyword in place[0].node else (pair.new, "")
    rule = f"{keyword}-{'raised' if new > old else 'lowered'}"
    found.add(rule, pair, place, (_said(old), _said(new)), {side: loss})


def _said(bound: float) -> str:
    return "not given" if abs(bound) == inf else str(bound)


def _plain_bound(at: At, keyword: str) -> float:
    lower = is_lower_bound(keyword)
    bound: float = at.node.get(keyword, 0 if lower else _NO_BOUND[lower])
    return bound


def _bound(at: At, keyword: str) -> float:
    """Return a bound of numbers: that of its size for an integer, none for a number."""
    lower = is_lower_bound(keyword)
    listed = values(at.node)
    if listed:
        edge: float = min(listed) if lower else max(listed)
        return edge
    if at.node["type"] == "integer":
        return integer_bounds(at.node)[not lower]
    bound: float = at.node.get(keyword, _NO_BOUND[lower])
    return bound


def _length(at: At, keyword: str) -> float:
    lengths = [len(value) for value in values(at.node)]
    if lengths:
        return min(lengths) if is_lower_bound(keyword) else max(lengths)
    return _plain_bound(at, keyword)


def _numbers(keyword: str, loose: float, tight: float, at: At) -> Loss:
    kind = at.node.get("type", "integer")
    step = 1 if is_lower_bound(keyword) else -1
    nearest = [tight - step]  # of a number this may be an integer that binary64 cannot hold
    if kind == "number":
        nearest.append(nextafter(tight, -step * inf))
    condition: dict[str, Any] = {"type": kind}
    if kind == "integer":
        other = "maximum" if is_lower_bound(keyword) else "minimum"
        condition[other] = tight - step
    if abs(loose) != inf:
        condition[keyword] = loose
    return Loss(condition, tuple(v for v in (*nearest, loose) if abs(v) != inf))


def _sizes(keyword: str, loose: float, tight: float) -> list[int]:
    """Return lengths that only the looser bound allows; none that would fill the memory."""
    nearest = tight - 1 if is_lower_bound(keyword) else tight + 1
    return [int(size) for size in (nearest, loose) if 0 <= size <= _LONGEST]


def _texts(keyword: str, loose: float, tight: float, at: At) -> Loss:
    del at
    return Loss(None, tuple("a" * size for size in _sizes(keyword, loose, tight)))


def _bytes(keyword: str, loose: float, tight: float, at: At) -> Loss:
    sizes = _sizes(keyword, loose, tight)
    if at.family.encoding == "msgpack":
        return Loss(None, tuple(bytes(size) for size in sizes))
    return Loss(None, tuple(base64_of(size) for size in sizes))


def base64_of(size: int) -> str:
    """Return Base64 text that stands for so many bytes."""
    return b64encode(bytes(size)).decode("ascii")


def _compare_values(found: Comparison, pair: Pair) -> Pair:
    """Compare lists of values; return the pair with the sides that bounds still concern."""
    old, new = values(pair.old.node), values(pair.new.node)
    if not old and not new:
        return pair
    gone: Sequence[Any] = [value for value in old if value not in new] if new else ()
    come: Sequence[Any] = [value for value in new if value not in old] if old else ()
    place = (pair.new, "")
    if gone or not old:
        loss = Loss({"enum": gone}, tuple(gone)) if old else Loss(None, _others(new, pair.old))
        found.add("value-removed", pair, place, (_listed(gone), ""), {"readers": loss})
    if come or not new:
        loss = Loss({"enum": come}, tuple(come)) if new else Loss(None, _others(old, pair.new))
        found.add("value-added", pair, place, ("", _listed(come)), {"writers": loss})
    asked = {"readers"} if not new else {"writers"} if not old else set[str]()
    return replace(pair, sides=tuple(side for side in pair.sides if side in asked))


def _others(listed: Sequence[Any], at: At) -> tuple[Any, ...]:
    """Return values of a node that are not in a list, as long as it has no pattern."""
    if isinstance(listed[0], str):
        shortest = "b" * at.node.get("minLength", 0)
        return (shortest, f"{shortest}_", f"{listed[0]}_", "other")
    bounds = (at.node.get("minimum", min(listed) - 1), at.node.get("maximum", max(listed) + 1))
    return (*bounds, *(bound + step for bound in bounds for step in (1, -1)))


def _listed(some: Sequence[Any]) -> str:
    return ", ".join(map(str, some)) or "all others"


def _compare_pattern(found: Comparison, pair: Pair) -> None:
    old, new = pair.old.node.get("pattern"), pair.new.node.get("pattern")
    if old == new or _fits(pair.old, new) or _fits(pair.new, old):
        return
    rule = "pattern-changed" if old and new else "pattern-added" if new else "pattern-removed"
    place = (pair.new, "/pattern") if new else (pair.old, "/pattern")
    losses: Losses = {"readers": Loss(None, _TEXTS), "writers": Loss(None, _TEXTS)}
    found.add(rule, pair, place, (old or "", new or ""), losses)


_TEXTS: Final = ("", " ", "a", "A", "0", "-", "a b", "\u00e9", "text", "1.5")
"""Texts of many kinds, some of which a pattern refuses."""


def _fits(at: At, pattern: str | None) -> bool:
    """Return whether a node lists its values, all of which match a pattern of the other side."""
    listed = values(at.node)
    return bool(listed) and (
        pattern is None or all(re.search(f"{pattern[:-1]}\\Z", value) for value in listed)
    )
