"""Keys of changes that are in a log without one, by key columns that are named later."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.changes.values import key_of
from changewire.engines.effects import json_object, logged_change
from changewire.engines.layout import EFFECT
from changewire.tables.keys import key_text
from changewire.tables.mutations import effect_of
from changewire_messages.change import Source

_READ: Final = ("op", "source", "before", "after", "sequence", "attributes")

_KEYED: Final = ("key", "before_key", EFFECT)
"""Columns that follow from the columns of a key."""


def with_keys(rows: pa.Table, options: DecodeOptions) -> pa.Table:
    """Return changes of a log with their keys and effects, without those that get no key.

    Args:
        rows: Changes without keys, as rows of a log.
        options: How messages are decoded; they name the columns of keys.
    """
    found = [_keyed(row, options) for row in rows.select([*_READ]).to_pylist()]
    for number, name in enumerate(_KEYED):
        column = pa.array([one and one[number] for one in found], pa.string())
        rows = rows.set_column(rows.column_names.index(name), rows.schema.field(name), column)
    return rows.filter(pa.array([one is not None for one in found], pa.bool_()))


def _keyed(row: dict[str, Any], options: DecodeOptions) -> tuple[str | None, ...] | None:
    """Return the columns `_KEYED` of a change; None if it has no key."""
    names = options.keys_of(Source(**row["source"])) or ()
    before, after = (json_object(row[name]) or {} for name in ("before", "after"))
    # Messages may leave out what did not change, so the key need not be in one image.
    images = (after or before, {**before, **after})
    key = next(filter(None, (key_of(one, names) for one in images)), None)
    if key is None:
        return None
    left = key_of(before, names) if row["op"] == "update" else None
    texts = key_text(key), None if left is None or left == key else key_text(left)
    change = logged_change({**row, **dict(zip(_KEYED, texts, strict=False))})
    return (*texts, effect_of(change))
