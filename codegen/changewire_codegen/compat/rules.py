"""The rules: what each difference means for readers and for writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Verdict: TypeAlias = Literal["compatible", "leniency gone", "breaking"]

Side: TypeAlias = Literal["readers", "writers"]

GRAVITY: Final[tuple[Verdict, ...]] = ("compatible", "leniency gone", "breaking")
SIDES: Final[tuple[Side, Side]] = ("readers", "writers")


class Rule(NamedTuple):
    """What happened, in words, to which keywords, and what it means for readers and writers."""

    text: str
    keywords: tuple[str, ...]
    readers: Verdict
    writers: Verdict


def _rules(readers: Verdict, writers: Verdict) -> Callable[..., Rule]:
    def rule(text: str, *keywords: str) -> Rule:
        return Rule(text, keywords, readers, writers)

    return rule


_note, _narrower = _rules("compatible", "compatible"), _rules("breaking", "compatible")
_wider, _other = _rules("compatible", "breaking"), _rules("breaking", "breaking")

BOUNDS: Final = {
    "minimum": ("MINIMUM", "the smallest value"),
    "maximum": ("MAXIMUM", "the greatest value"),
    "minLength": ("MIN_LENGTH", "the smallest number of characters"),
    "maxLength": ("MAX_LENGTH", "the greatest number of characters"),
    "x-minBytes": ("MIN_BYTES", "the smallest number of bytes"),
    "x-maxBytes": ("MAX_BYTES", "the greatest number of bytes"),
    "minItems": ("MIN_ITEMS", "the smallest number of elements"),
    "maxItems": ("MAX_ITEMS", "the greatest number of elements"),
}
"""Keywords that bound a value, as they are called in the names of rules and in words."""


def _bounds() -> Iterator[tuple[str, Rule]]:
    for keyword, (subject, words) in BOUNDS.items():
        narrower, wider = ("RAISE", "LOWER") if "min" in keyword else ("LOWER", "RAISE")
        text = f"{words} was {{old}}, is {{new}}"
        yield f"{subject}_NO_{narrower}", _narrower(text, keyword)
        yield f"{subject}_NO_{wider}", _wider(text, keyword)


RULES: Final[Mapping[str, Rule]] = {
    "FAMILY_NO_ADD": _note("messages of a new kind: {new}", "title"),
    "FAMILY_NO_DELETE": _narrower("messages of this kind are gone: {old}", "title"),
    "FAMILY_SAME_TEXT": _note(
        "the text for people changed", "title", "description", "differences", "kind", "more"
    ),
    "FAMILY_SAME_FORMAT": _other("the format was called {old}, is {new}", "format"),
    "FAMILY_SAME_ENCODING": _other(
        "messages were written as {old}, are as {new}", "encoding", "x-mapKeys"
    ),
    "NUMBERS_NO_WIDEN": _wider("numbers were {old}, are {new}", "numbers"),
    "NUMBERS_NO_NARROW": _narrower("numbers were {old}, are {new}", "numbers"),
    "ROLE_NO_ADD": _wider("a new part of a record: {new}", "roles"),
    "ROLE_NO_DELETE": _narrower("a part of a record is gone: {old}", "roles"),
    "MESSAGE_NO_ADD": _note("a new message: {new}", "$id"),
    "MESSAGE_NO_DELETE": _narrower("the message is gone: {old}", "$id"),
    "SCHEMA_SAME_TITLE": _note("its name was {old}, is {new}", "title"),
    "SCHEMA_SAME_TEXT": _note(
        "description or examples changed", "$schema", "$id", "$comment", "description", "examples"
    ),
    "TYPE_NO_ADD": _wider("it may be {new}, too", "type", "anyOf"),
    "TYPE_NO_DELETE": _narrower("it may not be {old} any more", "type", "anyOf"),
    "TYPE_NO_WIDEN": _wider("it was {old}, is {new}", "type", "items", "additionalProperties"),
    "TYPE_NO_NARROW": _narrower("it was {old}, is {new}", "type", "items", "additionalProperties"),
    "STRING_FORMAT_NO_ADD": _narrower("it was {old}, is {new}", "contentEncoding", "format"),
    "STRING_FORMAT_NO_DELETE": _wider("it was {old}, is {new}", "contentEncoding", "format"),
    "ENUM_VALUE_NO_ADD": _wider("new values: {new}", "const", "enum"),
    "ENUM_VALUE_NO_DELETE": _narrower("values are gone: {old}", "const", "enum"),
    **dict(_bounds()),
    "PATTERN_NO_ADD": _narrower("text must match {new}", "pattern"),
    "PATTERN_NO_DELETE": _wider("text need not match {old} any more", "pattern"),
    "PATTERN_SAME_VALUE": _other("text had to match {old}, must match {new}", "pattern"),
    "POSITION_NO_ADD": _other("a new position: {new}", "prefixItems"),
    "POSITION_NO_DELETE": _other("the position is gone: {old}", "prefixItems"),
    "OPEN_POSITION_NO_ADD": _narrower("an open array names a position: {new}", "prefixItems"),
    "OPEN_POSITION_NO_DELETE": _wider("an open array names no more: {old}", "prefixItems"),
    "ARRAY_NO_OPEN": _note("it may have positions without a name", "items", "maxItems"),
    "ARRAY_NO_CLOSE": _note("all its positions have names", "items", "maxItems"),
    "PROPERTY_NO_ADD": _note(
        "a new property: {new}; if it was sent before, other values are rejected now",
        "properties",
    ),
    "PROPERTY_NO_DELETE": _note(
        "the property is gone: {old}; if it is sent, old readers reject other values",
        "properties",
    ),
    "REQUIRED_NO_ADD": _narrower("{new} must be there", "required"),
    "REQUIRED_NO_DELETE": _wider("{old} may be absent", "required"),
    "ONEOF_ARM_NO_ADD": _wider("a new arm: {new}", "oneOf"),
    "ONEOF_ARM_NO_DELETE": _narrower("the arm is gone: {old}", "oneOf"),
    "ONEOF_ARM_NO_SPLIT": _note("the open arm {old} took what {new} takes", "oneOf", "not"),
    "ONEOF_ARM_NO_MERGE": _note("the open arm {new} takes what {old} took", "oneOf", "not"),
    "ONEOF_OPEN_ARM_NO_ADD": _wider("unknown kinds are taken by {new}", "oneOf", "not"),
    "ONEOF_OPEN_ARM_NO_DELETE": _narrower("unknown kinds were taken by {old}", "oneOf", "not"),
    "ONEOF_SAME_TAG": _other("arms were distinguished by {old}, are by {new}", "oneOf"),
    "PROPERTY_SAME_REPEATED": _note(
        "whether it is the same in message after message changed", "x-repeated"
    ),
    "CHANGE_SAME_VALUE": _note("parts of a change are elsewhere", "change"),
    "OP_SAME_VALUE": _note("the operation of a change was {old}, is {new}", "x-op"),
    "UNIT_SAME_VALUE": _note("a time was in {old}, is in {new}", "x-unit"),
    "UNKNOWN_SAME_VALUE": _note("numbers that are not a time were {old}, are {new}", "x-unknown"),
    "VALUES_SAME_VALUE": _note("values with a meaning were {old}, are {new}", "x-values"),
    "ALONE_NO_ADD": _wider("a message may be {new} alone", "x-alone"),
    "ALONE_NO_DELETE": _narrower("no message may be {old} alone", "x-alone"),
    "FLAT_NO_ADD": _other("the entries of {new} are properties of the message itself", "x-flat"),
    "FLAT_NO_DELETE": _other(
        "the entries of {old} were properties of the message itself", "x-flat"
    ),
    "LENIENCY_NO_ADD": _note("a leniency is counted: {new}", "x-leniency"),
    "LENIENCY_NO_DELETE": _note("a leniency is not counted any more: {old}", "x-leniency"),
    "LENIENCY_SAME_VALUE": _note("a leniency counts other values: {new}", "x-leniency"),
}
"""Each rule by its name: what a difference did not keep.

Where the messages that are lost all needed a leniency, `differences` says ``leniency gone`` in
place of ``breaking``.
"""
