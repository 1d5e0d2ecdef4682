"""The user key of a record as a column of its row, so that tables can be joined by it.

The key of the row is what every message has. The user key is in the attributes of a change, if the
record stores it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.vendors import USER_KEY_COLUMN, USER_KEY_SYSTEM
from changewire.engines.arrays import indices_of
from changewire.engines.carried import RAW_MEMBERS
from changewire.engines.layout import EFFECT
from changewire.engines.typed.auto import CarriedColumn
from changewire.tables.routing import RouteKey

ATTRIBUTE: Final = "user_key"
"""The attribute of a change."""

SETS_ROW: Final = ("full", "patch")
"""Effects of changes that set columns of a row."""


def user_key_column(routes: Iterable[RouteKey]) -> list[CarriedColumn]:
    """Return the column, if messages are of records that may have a user key."""
    is_any = any(source.system == USER_KEY_SYSTEM for source, _ in routes)
    return [CarriedColumn(USER_KEY_COLUMN, "string", 0, ())] if is_any else []


def with_user_keys(rows: pa.Table) -> pa.Table:
    """Return rows of a log whose ``after`` has the user keys of their records, as text."""
    is_one = pc.equal(pc.struct_field(rows["source"], "system"), USER_KEY_SYSTEM)
    is_one = pc.and_(is_one, pc.is_in(rows[EFFECT], pa.array(SETS_ROW)))
    is_one = pc.and_(is_one, pc.is_valid(rows["attributes"]))
    if not pc.any(is_one).as_py():
        return rows
    afters = rows["after"].to_pylist()
    attributes = rows["attributes"].to_pylist()
    for place in indices_of(is_one):
        afters[place] = _with_user_key(afters[place], attributes[place])
    return rows.set_column(rows.column_names.index("after"), "after", pa.array(afters, pa.string()))


def _with_user_key(after: str, attributes: str) -> str:
    found = bytes(RAW_MEMBERS(attributes).get(ATTRIBUTE, b"null")).decode()
    if found == "null":
        return after
    text = found if found.startswith('"') else msgspec.json.encode(found).decode()
    comma = "" if after == "{}" else ","
    return f'{{"{USER_KEY_COLUMN}":{text}{comma}{after[1:]}'
