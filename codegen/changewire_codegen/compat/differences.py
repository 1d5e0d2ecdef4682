"""Differences as they are found, and their verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from msgspec import UNSET

from changewire_codegen.compat.implied import is_lenient
from changewire_codegen.compat.places import At, Node, Step, Trace
from changewire_codegen.compat.rules import GRAVITY, RULES, SIDES, Side, Verdict
from changewire_codegen.nodes import Family

MISSING: Final = UNSET
"""Stands for a value that is not there."""

_TEXTS: Final = ("$schema", "$id", "$comment", "description", "examples")

_NAMES: Final = {
    "title": "title-changed",
    "$ref": "reference-changed",
    "x-repeated": "repeated-changed",
}


@dataclass(frozen=True)
class Loss:
    """Values that one side's schemas allow and the other side's refuse.

    Attributes:
        condition: What they have in common, as a condition of the dialect; None if it is not
            known.
        values: Some that may be lost, to search for a message that shows it.
        step: From the value at the place of the difference to the one that is lost, if that is in
            it.
    """

    condition: Node | None = None
    values: tuple[Any, ...] = ()
    step: Step | None = None


Losses: TypeAlias = Mapping[Side, Loss]

NO_LOSS: Final[Losses] = {}


@dataclass(frozen=True)
class Pair:
    """Two nodes that describe the same value, and the way to it on both sides.

    Attributes:
        sides: Which sides are asked: where one type stands in for another, only one question has
            a meaning.
        texts: Whether what is said to people is compared: not of what are two kinds of messages.
    """

    old: At
    new: At
    old_trace: Trace = ()
    new_trace: Trace = ()
    sides: tuple[Side, ...] = SIDES
    texts: bool = True

    def trace(self, side: Side) -> Trace:
        """Return the way to the value in the schemas by which that side's messages are written."""
        trace, at = (self.old_trace, self.old) if side == "readers" else (self.new_trace, self.new)
        return (*trace, (at, None))

    def to(self, old: At, new: At, step: Step | None) -> Pair:
        """Return the pair for a value in this one's, or for the same value."""
        return replace(
            self,
            old=old,
            new=new,
            old_trace=(*self.old_trace, (self.old, step)),
            new_trace=(*self.new_trace, (self.new, step)),
        )


@dataclass(frozen=True)
class SchemaDifference:
    """One difference.

    Attributes:
        rule: Name of the rule that judges it.
        file: Schema file, with its folder.
        pointer: JSON Pointer in that file.
        gone: Whether the place is one of the old schemas.
        old: What was, in words.
        new: What is, in words.
        verdicts: For readers and for writers.
        files: Old and new schema file of the message in which it was found.
        lost: For each side that loses messages the way to the value, and what is known of it.
    """

    rule: str
    file: str
    pointer: str
    gone: bool
    old: str
    new: str
    verdicts: Mapping[Side, Verdict]
    files: tuple[str, str]
    lost: Mapping[Side, tuple[Trace, Loss]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What has happened, in words."""
        return RULES[self.rule].text.format(old=self.old, new=self.new)


@dataclass
class Comparison:
    """What has been found so far.

    Attributes:
        compare: Compares a pair of nodes within this comparison.
        old: The old family; None if it is new as a whole.
        files: Old and new schema file of the message that is being compared.
        compared: Pairs that have been compared, and how; a definition may hold itself.
        visited: Places of old and new nodes that have been compared in full.
        found: By rule, place and words, in the order of finding.
    """

    compare: Callable[[Comparison, Pair], None]
    old: Family | None = None
    files: tuple[str, str] = ("", "")
    compared: set[object] = field(default_factory=set)
    visited: set[object] = field(default_factory=set)
    found: dict[object, SchemaDifference] = field(default_factory=dict)

    def visit(self, pair: Pair) -> None:
        """Remember nodes that are compared in full: their files need not be compared again."""
        if pair.sides == SIDES and pair.texts:
            self.visited.add((pair.old.place, pair.new.place))

    def add(
        self,
        rule: str,
        pair: Pair,
        place: tuple[At, str],
        words: tuple[object, object] = ("", ""),
        losses: Losses = NO_LOSS,
    ) -> None:
        """Note a difference.

        Args:
            rule: Its name in `RULES`.
            pair: The nodes that differ.
            place: The node to show, and the steps below it.
            words: What was and what is.
            losses: What each side loses, as far as it is known.
        """
        verdicts: dict[Side, Verdict] = {
            side: _verdict(rule, side, pair, losses.get(side, Loss())) for side in SIDES
        }
        if pair.sides != SIDES and set(verdicts.values()) == {"compatible"}:
            return
        at, below = place
        lost: dict[Side, tuple[Trace, Loss]] = {
            side: (pair.trace(side), losses.get(side, Loss()))
            for side in SIDES
            if verdicts[side] != "compatible"
        }
        file, pointer = at.place
        gone, (old, new) = at.family is self.old, map(_words, words)
        self._keep(
            SchemaDifference(
                rule, file, pointer + below, gone, old, new, verdicts, self.files, lost
            )
        )

    def _keep(self, found: SchemaDifference) -> None:
        """Keep a difference; of one that was found on several ways what is worst on any."""
        key = (found.rule, found.file, found.pointer, found.old, found.new)
        before = self.found.get(key)
        if before is None or _gravity(found) > _gravity(before):
            self.found[key] = found


def _gravity(found: SchemaDifference) -> int:
    return sum(GRAVITY[verdict] for verdict in found.verdicts.values())


def _verdict(rule: str, side: Side, pair: Pair, loss: Loss) -> Verdict:
    verdict = RULES[rule].verdict(side) if side in pair.sides else "compatible"
    if verdict == "breaking" and is_lenient(loss.condition, pair.trace(side)):
        return "leniency gone"
    return verdict


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
