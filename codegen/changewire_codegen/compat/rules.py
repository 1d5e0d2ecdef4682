"""The rules: what each difference means for readers and for writers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["compatible", "leniency gone", "breaking"]
"""In the order of gravity."""

Side: TypeAlias = Literal["readers", "writers"]

GRAVITY: Final[Mapping[Verdict, int]] = {"compatible": 0, "leniency gone": 1, "breaking": 2}
SIDES: Final[tuple[Side, Side]] = ("readers", "writers")


@dataclass(frozen=True)
class Rule:
    """One kind of difference.

    Attributes:
        keywords: Keywords of the dialect whose difference it is.
        readers: Whether code made from the new schemas reads what the old ones allow.
        writers: Whether code made from the old schemas reads what the new ones allow.
        text: What has happened, in words; ``{old}`` and ``{new}`` stand for what was and what is.
    """

    keywords: tuple[str, ...]
    readers: Verdict
    writers: Verdict
    text: str

    def verdict(self, side: Side) -> Verdict:
        """Return what the rule says of one side."""
        return self.readers if side == "readers" else self.writers


_NOTHING: Final[tuple[Verdict, Verdict]] = ("compatible", "compatible")
_NARROWER: Final[tuple[Verdict, Verdict]] = ("breaking", "compatible")
_WIDER: Final[tuple[Verdict, Verdict]] = ("compatible", "breaking")
_OTHER: Final[tuple[Verdict, Verdict]] = ("breaking", "breaking")

_BOUNDS: Final[Mapping[str, str]] = {
    "minimum": "the smallest value",
    "maximum": "the greatest value",
    "minLength": "the smallest number of characters",
    "maxLength": "the greatest number of characters",
    "x-minBytes": "the smallest number of bytes",
    "x-maxBytes": "the greatest number of bytes",
    "minItems": "the smallest number of elements",
    "maxItems": "the greatest number of elements",
}


def is_lower_bound(keyword: str) -> bool:
    """Return whether a keyword says how small a value may be; otherwise it says how great."""
    return "min" in keyword


def _bounds() -> Iterator[tuple[str, Rule]]:
    for keyword, words in _BOUNDS.items():
        for way in ("raised", "lowered"):
            narrower = is_lower_bound(keyword) == (way == "raised")
            verdicts = _NARROWER if narrower else _WIDER
            yield (
                f"{keyword}-{way}",
                Rule((keyword,), *verdicts, f"{words} was {{old}}, is {{new}}"),
            )


RULES: Final[Mapping[str, Rule]] = {
    "family-added": Rule(("title",), *_NOTHING, "messages of a new kind: {new}"),
    "family-removed": Rule(("title",), *_NARROWER, "messages of this kind are gone: {old}"),
    "family-text-changed": Rule(
        ("title", "description", "differences", "kind", "more"),
        *_NOTHING,
        "the text for people changed",
    ),
    "format-name-changed": Rule(("format",), *_OTHER, "the format was called {old}, is {new}"),
    "encoding-changed": Rule(
        ("encoding", "x-mapKeys"), *_OTHER, "messages were written as {old}, are as {new}"
    ),
    "numbers-exact": Rule(("numbers",), *_WIDER, "numbers were {old}, are {new}"),
    "numbers-rounded": Rule(("numbers",), *_NARROWER, "numbers were {old}, are {new}"),
    "role-added": Rule(("roles",), *_WIDER, "a new part of a record: {new}"),
    "role-removed": Rule(("roles",), *_NARROWER, "a part of a record is gone: {old}"),
    "file-added": Rule(("$id",), *_NOTHING, "a new file: {new}"),
    "file-removed": Rule(("$id",), *_NOTHING, "the file is gone: {old}"),
    "message-removed": Rule(("$id",), *_NARROWER, "the message is gone: {old}"),
    "definition-added": Rule(("$defs",), *_NOTHING, "a new definition: {new}"),
    "definition-removed": Rule(("$defs",), *_NOTHING, "the definition is gone: {old}"),
    "reference-changed": Rule(("$ref",), *_NOTHING, "it refers to {new}, not to {old}"),
    "title-changed": Rule(("title",), *_NOTHING, "its name was {old}, is {new}"),
    "text-changed": Rule(
        ("$schema", "$id", "$comment", "description", "examples"),
        *_NOTHING,
        "what it says to people changed",
    ),
    "type-added": Rule(("type", "anyOf"), *_WIDER, "it may be {new}, too"),
    "type-removed": Rule(("type", "anyOf"), *_NARROWER, "it may not be {old} any more"),
    "type-widened": Rule(
        ("type", "items", "additionalProperties"), *_WIDER, "it was {old}, is {new}"
    ),
    "type-narrowed": Rule(
        ("type", "items", "additionalProperties"), *_NARROWER, "it was {old}, is {new}"
    ),
    "format-added": Rule(("contentEncoding", "format"), *_NARROWER, "it was {old}, is {new}"),
    "format-removed": Rule(("contentEncoding", "format"), *_WIDER, "it was {old}, is {new}"),
    "value-added": Rule(("const", "enum"), *_WIDER, "new values: {new}"),
    "value-removed": Rule(("const", "enum"), *_NARROWER, "values are gone: {old}"),
    **dict(_bounds()),
    "pattern-added": Rule(("pattern",), *_NARROWER, "text must match {new}"),
    "pattern-removed": Rule(("pattern",), *_WIDER, "text need not match {old} any more"),
    "pattern-changed": Rule(("pattern",), *_OTHER, "text had to match {old}, must match {new}"),
    "position-added": Rule(("prefixItems",), *_OTHER, "a new position: {new}"),
    "position-removed": Rule(("prefixItems",), *_OTHER, "the position is gone: {old}"),
    "row-opened": Rule(("items", "maxItems"), *_NOTHING, "it may have positions without a name"),
    "row-closed": Rule(("items", "maxItems"), *_NOTHING, "all its positions have names"),
    "property-added": Rule(
        ("properties",),
        *_NOTHING,
        "a new property: {new}; where it was sent before, what it does not allow is refused now",
    ),
    "property-removed": Rule(
        ("properties",),
        *_NOTHING,
        "the property is gone: {old}; where it is sent, old readers refuse what it did not allow",
    ),
    "required-added": Rule(("required",), *_NARROWER, "{new} must be there"),
    "required-removed": Rule(("required",), *_WIDER, "{old} may be absent"),
    "arm-added": Rule(("oneOf",), *_WIDER, "a new arm: {new}"),
    "arm-removed": Rule(("oneOf",), *_NARROWER, "the arm is gone: {old}"),
    "arm-named": Rule(("oneOf", "not"), *_NOTHING, "the open arm {old} took what {new} takes"),
    "arm-unnamed": Rule(("oneOf", "not"), *_NOTHING, "the open arm {new} takes what {old} took"),
    "open-arm-added": Rule(("oneOf", "not"), *_WIDER, "unknown kinds are taken by {new}"),
    "open-arm-removed": Rule(("oneOf", "not"), *_NARROWER, "unknown kinds were taken by {old}"),
    "tag-changed": Rule(("oneOf",), *_OTHER, "arms were distinguished by {old}, are by {new}"),
    "rule-added": Rule(("if", "then"), *_NARROWER, "a rule between properties: {new}"),
    "rule-removed": Rule(("if", "then"), *_WIDER, "the rule between properties is gone: {old}"),
    "rule-changed": Rule(
        ("if", "then"), *_OTHER, "the rule between properties was {old}, is {new}"
    ),
    "repeated-changed": Rule(
        ("x-repeated",), *_NOTHING, "whether it is the same in message after message changed"
    ),
    "alone-added": Rule(("x-alone",), *_WIDER, "a message may be {new} alone"),
    "alone-removed": Rule(("x-alone",), *_NARROWER, "no message may be {old} alone"),
    "leniency-added": Rule(("x-leniency",), *_NOTHING, "a leniency is counted: {new}"),
    "leniency-removed": Rule(
        ("x-leniency",), *_NOTHING, "a leniency is not counted any more: {old}"
    ),
    "leniency-changed": Rule(("x-leniency",), *_NOTHING, "a leniency counts other values: {new}"),
}
"""Each rule by its name. Where the messages that are lost all needed a leniency, `differences`
says ``leniency gone`` in place of ``breaking``."""
