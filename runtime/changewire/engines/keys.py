"""Keys of changes that are in a log without one, by key columns that are named later."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import msgspec
import pyarrow as pa

from changewire.changes.change_row import ChangeRow
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.values import key_of
from changewire.engines.layout import EFFECT
from changewire.tables.keys import key_text
from changewire.tables.mutations import effect_of
from changewire_messages.change import Sequence, Source

_decode: Final = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode

_KEYED: Final = ("key", "before_key", EFFECT)
"""Columns that follow from the columns of a key."""

_READ: Final = ("op", "source", "before", "after", "sequence", "attributes")


def with_keys(rows: pa.Table, options: DecodeOptions) -> pa.Table:
    """Return changes of a log with their keys and effects, without those that get no key.

    Args:
        rows: Changes without keys, as rows of a log.
        options: How messages are decoded; they name the columns of keys.
    """
    each = rows.select([*_READ]).to_pylist()
    found = [_keyed(row, options) for row in each]
    for number, name in enumerate(_KEYED):
        column = pa.array([one and one[number] for one in found], pa.string())
        rows = rows.set_column(rows.column_names.index(name), rows.schema.field(name), column)
    return rows.filter(pa.array([one is not None for one in found], pa.bool_()))


def _keyed(row: dict[str, Any], options: DecodeOptions) -> tuple[str | None, ...] | None:
    """Return the columns `_KEYED` of a change; None if it has no key."""
    source, sequence = Source(**row["source"]), row["sequence"]
    names = options.keys_of(source)
    before, after, attributes = (_parsed(row[name]) for name in ("before", "after", "attributes"))
    # Messages may leave out what did not change, so the key need not be in one image.
    images = ((after or before or {}), {**(before or {}), **(after or {})})
    key = next(filter(None, (key_of(one, names or ()) for one in images)), None)
    if key is None:
        return None
    left = key_of(before, names or ()) if before and row["op"] == "update" else None
    change = ChangeRow(
        op=row["op"],
        source=source,
        key=key,
        before_key=None if left == key else left,
        before=before,
        after=after,
        sequence=None if sequence is None else Sequence(**sequence),
        attributes=attributes or {},
    )
    keys = (None if one is None else key_text(one) for one in (change.key, change.before_key))
    return (*keys, effect_of(change))


def _parsed(text: str | None) -> dict[str, Any] | None:
    return None if text is None else _decode(text)
