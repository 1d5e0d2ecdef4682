"""Positional arrays that may have more positions: where the dialect allows them."""

from __future__ import annotations

from changewire_codegen.emit.row_validators import nested_length, nested_row, row_arms
from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import Family, Row, RowUnion, TaggedRow
from changewire_codegen.order import messages, references

_IN_JSON = "only an array of MessagePack may be open: close it with items: false and maxItems"
_PART = "a message that is part of another one must be closed: items: false and maxItems"
_ALL = "the arms of a union of arrays must all be open, or all closed"
_SHORTER = "an array that is told from a longer one by its length must be closed"


def check_open_rows(family: Family) -> None:
    """Refuse open arrays where a reader could not tell, or keep, what is beyond their positions."""
    parts = {
        name
        for definition in family.definitions.values()
        if isinstance(definition, Row)
        for name in references(definition)
    }
    for definition in family.definitions.values():
        if isinstance(definition, Row) and definition.is_open:
            if family.encoding == "json":
                _refuse(definition, _IN_JSON)
            if definition.name in parts & messages(family):
                _refuse(definition, _PART)
        if isinstance(definition, TaggedRow):
            _check_arms(list(definition.arms))
        if isinstance(definition, RowUnion):
            _check_arms(row_arms(definition, family))
            _check_lengths(definition, family)


def _check_arms(arms: list[Row]) -> None:
    for arm in arms:
        if arm.is_open != arms[0].is_open:
            _refuse(arm, _ALL)


def _check_lengths(union: RowUnion, family: Family) -> None:
    """Refuse an open inner array where a longer one belongs to the same constants."""
    if union.nested is None:
        return
    arms = list(zip(row_arms(union, family), union.keys, strict=True))
    for arm, keys in arms:
        row = nested_row(arm, union, family)
        lengths = [nested_length(other, union, family) for other, own in arms if {*keys} & {*own}]
        if row is not None and row.is_open and len(row.positions) < max(lengths):
            _refuse(row, _SHORTER)


def _refuse(row: Row, reason: str) -> None:
    raise SchemaError(row.file, row.pointer, reason)
