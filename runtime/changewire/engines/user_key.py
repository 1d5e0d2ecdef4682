"""The user key of a record of Aerospike as a column of its row: other tables have it, too.

The key of the row is the digest, which every message has. The user key is in the attributes of a
change, if the record stores it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.carried import RAW_MEMBERS
from changewire.engines.layout import EFFECT
from changewire.engines.typed.auto import CarriedColumn
from changewire.tables.routing import RouteKey

SYSTEM: Final = "aerospike"
"""The system of sources whose records have user keys."""

USER_KEY: Final = "aerospike_user_key"
"""The column: no bin has so long a name."""

ATTRIBUTE: Final = "user_key"
"""The attribute of a change."""

SETS_ROW: Final = ("full", "patch")
"""Effects of changes that set columns of a row."""


def user_key_column(routes: Iterable[RouteKey]) -> list[CarriedColumn]:
    """Return the column, if messages are of records that may have a user key."""
    is_any = any(source.system == SYSTEM for source, _ in routes)
    return [CarriedColumn(USER_KEY, "string", 0, ())] if is_any else []


def with_user_keys(rows: pa.Table) -> pa.Table:
    """Return rows of a log whose ``after`` has the user keys of their records, as text."""
    is_one = pc.equal(pc.struct_field(rows["source"], "system"), SYSTEM)
    is_one = pc.and_(is_one, pc.is_in(rows[EFFECT], pa.array(SETS_ROW)))
    is_one = pc.and_(is_one, pc.is_valid(rows["attributes"]))
    if not pc.any(is_one).as_py():
        return rows
    afters = rows["after"].to_pylist()
    attributes = rows["attributes"].to_pylist()
    for place in pc.indices_nonzero(pc.fill_null(is_one, False)).to_pylist():  # noqa: FBT003
        afters[place] = _with_user_key(afters[place], attributes[place])
    return rows.set_column(rows.column_names.index("after"), "after", pa.array(afters, pa.string()))


def _with_user_key(after: str, attributes: str) -> str:
    found = bytes(RAW_MEMBERS(attributes).get(ATTRIBUTE, b"null")).decode()
    if found == "null":
        return after
    text = found if found.startswith('"') else msgspec.json.encode(found).decode()
    comma = "" if after == "{}" else ","
    return f'{{"{USER_KEY}":{text}{comma}{after[1:]}'
