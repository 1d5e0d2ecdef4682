"""The types that the values of rows show, as text that a log keeps.

Messages without a schema show the types of their values: numbers, text, truth values; and
attributes say which text represents bytes. The text is that of `changewire.engines.declared`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.connect.reads import UNDECLARED_FIELD
from changewire.changes.contradictions import UNDECLARED
from changewire.engines.arrays import indices_of
from changewire.engines.declared import VOID
from changewire.engines.layout import CHANGE, DECLARED, EFFECT
from changewire.engines.native import carried_of
from changewire.engines.typed.readings import JSON
from changewire.tables.mutations import APPLIED

_FRACTION: Final = frozenset(b".eE")
_NOT_FINITE: Final = frozenset({b'"NaN"', b'"Infinity"', b'"-Infinity"'})
"""Floats that JSON has no number for."""

_KINDS: Final = {
    **dict.fromkeys(b"{[", JSON),
    **dict.fromkeys(b"tf", "boolean"),
    ord("n"): None,
    ord('"'): "string",
}
"""Types of values by their first byte; all others are numbers."""

_UNDECLARED: Final = pa.array([UNDECLARED, UNDECLARED_FIELD])
"""Leniencies of rows with a value whose column the message does not declare."""

RAW_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
"""Returns the members of a JSON object, each as its text."""

_members: Final = msgspec.json.Decoder(dict[str, Any]).decode


def text_of_row(after: str, attributes: str | None) -> str | None:
    """Return the text of the columns that a row of a log shows; None if it is not an object.

    Args:
        after: The row.
        attributes: Attributes of its change, in which bins of bytes are named.
    """
    try:
        of_bytes = {*_bytes_in(attributes)} if attributes is not None else ()
        row = RAW_MEMBERS(after)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None  # it is not a row of a log; fitting it to its table says so
    found = {name: kind for name, raw in row.items() if (kind := _kind(name, raw, of_bytes))}
    return msgspec.json.encode(found).decode()


def _kind(name: str, raw: msgspec.Raw, of_bytes: Collection[str]) -> str | None:
    value = bytes(raw)
    kind = _KINDS.get(value[0], "")
    if kind == "":
        return "long" if _FRACTION.isdisjoint(value) else "double"
    if kind == "string":
        return "binary" if name in of_bytes else VOID if value in _NOT_FINITE else kind
    return kind


def _bytes_in(attributes: str) -> Iterator[str]:
    """Yield the names of bins whose text represents bytes; a particle type is a number."""
    bins = _members(attributes).get("bins")
    for name, note in bins.items() if isinstance(bins, dict) else ():
        kind = note.get("type") if isinstance(note, dict) else None
        if kind == "blob" or type(kind) is int:
            yield name


def with_carried(rows: pa.Table) -> pa.Table:
    """Return rows of a log with the types that values show, where `DECLARED` is NULL."""
    lacks = pc.and_(pc.is_valid(rows["after"]), pc.is_null(rows[DECLARED]))
    lacks = pc.and_(lacks, pc.equal(rows["kind"], CHANGE))
    if not pc.any(lacks).as_py():
        return rows
    texts = carried(*(rows[name].combine_chunks() for name in ("after", "attributes")))
    place = rows.column_names.index(DECLARED)
    return rows.set_column(place, DECLARED, pc.if_else(lacks, texts, rows[DECLARED]))


def with_key_columns(rows: pa.Table) -> pa.Table:
    """Return rows of a log whose `DECLARED` has the types that their keys show, and no others.

    It is NULL for changes that do nothing to the row of their key.
    """
    texts = carried(*(rows[name].combine_chunks() for name in ("key", "attributes")))
    is_applied = pc.is_in(rows[EFFECT], pa.array([*APPLIED]))
    texts = pc.if_else(is_applied, texts, pa.scalar(None, pa.string()))
    return rows.set_column(rows.column_names.index(DECLARED), DECLARED, texts)


def with_undeclared(
    declared: pa.Array, afters: pa.Array, attributes: pa.Array, leniencies: pa.Array
) -> pa.Array:
    """Return the texts of declared columns, and of those that only values of rows show.

    Args:
        declared: Texts of the columns that messages declare, NULL without a schema.
        afters: The rows.
        attributes: Attributes of their changes.
        leniencies: Names of the leniencies that each change needed: some say what is undeclared.
    """
    is_one = pc.is_in(leniencies.flatten(), _UNDECLARED)
    places = pc.unique(pc.list_parent_indices(leniencies).filter(is_one)).to_pylist()
    if not places:
        return declared
    found = declared.to_pylist()
    for place in places:
        text, after = found[place], afters[place].as_py()
        shown = after and text_of_row(after, attributes[place].as_py())
        if text is not None and shown is not None:
            found[place] = msgspec.json.encode(_members(shown) | _members(text)).decode()
    return pa.array(found, pa.string())


def carried(afters: pa.Array, attributes: pa.Array) -> pa.Array:
    """Return the texts of the columns that rows show, NULL without a row."""
    made = carried_of(afters, attributes)
    if made is None:
        declined = pc.is_valid(afters)
        found: list[str | None] = [None] * len(afters)
    else:
        texts, declined = made.columns
        if not pc.any(declined).as_py():
            return texts
        found = texts.to_pylist()
    for index in indices_of(declined):
        found[index] = text_of_row(afters[index].as_py(), attributes[index].as_py())
    return pa.array(found, pa.string())
