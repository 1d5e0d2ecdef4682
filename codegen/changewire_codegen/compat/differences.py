"""Differences as they are found, and their verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Final

from jsonschema import Draft202012Validator

from changewire_codegen.compat.places import At, Node
from changewire_codegen.compat.rules import GRAVITY, RULES, SIDES, Side, Verdict
from changewire_codegen.nodes import Family

_ANNOTATIONS: Final = {
    keyword: rule
    for rule in RULES
    if rule.startswith(("SCHEMA_", "PROPERTY_SAME_", "OP_", "UNIT_", "UNKNOWN_", "VALUES_"))
    for keyword in RULES[rule].keywords
}


@dataclass(frozen=True)
class Pair:
    """Two nodes for the same value; ``texts`` for people are compared but for two kinds of it."""

    old: At
    new: At
    texts: bool = True

    def value(self, *steps: str | int) -> Pair:
        """Return the pair for a value in this one's."""
        return replace(self, old=self.old.value(*steps), new=self.new.value(*steps))

    def place(self, keyword: str) -> tuple[At, str]:
        """Return the place of a keyword in the new schemas, or in the old ones."""
        at = next((at for at in (self.new, self.old) if keyword in at.node), None)
        return (at, f"/{keyword}") if at else (self.new, "")


@dataclass(frozen=True)
class SchemaDifference:
    """One difference: the rule that judges it, the place, what happened, and verdicts.

    ``gone`` places are in the old schemas. It was found in messages of these files, old and new;
    ``path`` has patterns for the JSON Pointer to the value.
    """

    rule: str
    file: str
    pointer: str
    gone: bool
    text: str
    verdicts: Mapping[Side, Verdict]
    files: tuple[str, str]
    path: tuple[str, ...]

    @property
    def gravity(self) -> int:
        """How bad the verdicts are together."""
        return sum(map(GRAVITY.index, self.verdicts.values()))

    @property
    def lost(self) -> list[Side]:
        """Which sides lose messages."""
        return [side for side in SIDES if self.verdicts[side] != "compatible"]


@dataclass
class Comparison:
    """What has been compared and found; ``files`` are those of the message in question."""

    old: Family | None
    files: tuple[str, str]
    compared: dict[object, set[object]] = field(default_factory=dict)
    found: dict[object, SchemaDifference] = field(default_factory=dict)

    def is_new(self, pair: Pair) -> bool:
        """Remember a pair, and return whether it has not been compared: they may be recursive."""
        done = self.compared.setdefault((pair.old.place, pair.new.place), set())
        key = (pair.texts, repr(pair.old.lenient), repr(pair.new.lenient))
        is_new = key not in done
        done.add(key)
        return is_new

    def add(
        self,
        rule: str,
        pair: Pair,
        place: tuple[At, str],
        words: tuple[object, object] = ("", ""),
        lost: Node | None = None,
    ) -> None:
        """Note a difference at a node and steps below it; of one found twice the worst verdicts.

        All values that a side loses satisfy ``lost``, as far as a condition says it.
        """
        verdicts: dict[Side, Verdict] = {s: _verdict(rule, s, pair, lost) for s in SIDES}
        at, (file, pointer) = place[0], place[0].place
        old, new = (w if isinstance(w, str) else json.dumps(w, ensure_ascii=False) for w in words)
        text = RULES[rule].text.format(old=old, new=new)
        key = (rule, file, pointer + place[1], at.family is self.old, text)
        found = SchemaDifference(*key, verdicts, self.files, pair.old.path)
        if found.gravity >= self.found.get(key, found).gravity:
            self.found[key] = found


def _verdict(rule: str, side: Side, pair: Pair, lost: Node | None) -> Verdict:
    verdict: Verdict = getattr(RULES[rule], side)
    counted = (pair.old if side == "readers" else pair.new).lenient
    if verdict == "breaking" and any(_implies(lost, condition) for condition in counted):
        return "leniency gone"
    return verdict


def _implies(condition: Node | None, other: Node) -> bool:
    """Return, if need be too cautiously, whether what satisfies a condition satisfies another."""
    if condition is None or not other:
        return not other
    if "enum" in condition:
        judge: Any = Draft202012Validator(other)
        return all(judge.is_valid(value) for value in condition["enum"])
    return all(
        (keyword == "minimum" and condition.get(keyword, -inf) >= wanted)
        or (keyword == "maximum" and condition.get(keyword, inf) <= wanted)
        or condition.get(keyword) == wanted
        for keyword, wanted in other.items()
    )


def change(old: object, new: object) -> str:
    """Return the end of a rule's name for what came, went or has changed."""
    return "NO_ADD" if not old else "SAME_VALUE" if new else "NO_DELETE"


def compare_op(found: Comparison, pair: Pair) -> None:
    """Compare the operations that two tags represent."""
    words = [at.node.get("x-op", "nothing") for at in (pair.old, pair.new)]
    if words[0] != words[1]:
        found.add("OP_SAME_VALUE", pair, pair.place("x-op"), (words[0], words[1]))


def compare_annotations(found: Comparison, pair: Pair) -> None:
    """Compare the keywords of two nodes that refuse no message."""
    if not pair.texts:
        return
    old, new = pair.old.node, pair.new.node
    for keyword, rule in _ANNOTATIONS.items():
        words = (old.get(keyword, "nothing"), new.get(keyword, "nothing"))
        if words[0] != words[1]:
            found.add(rule, pair, pair.place(keyword), words)
    before, now = (node.get("x-leniency", {}) for node in (old, new))
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            rule = f"LENIENCY_{change(name in before, name in now)}"
            found.add(rule, pair, pair.place("x-leniency"), (name, name))
