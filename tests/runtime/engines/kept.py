"""Which values of rows a table has to keep, in columns or rescued, and which of them it lacks."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec.structs import replace
from tests.runtime.engines.drifts import Source
from tests.runtime.tables.model import tables_of

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.tables import ChangePosition, PositionedChange

DIGEST, USER_KEY = "aerospike_digest", "aerospike_user_key"


def rows_of(
    sent: Sequence[bytes], source: Source, refused: Collection[int] = ()
) -> dict[Any, dict[str, Any]]:
    """Return the rows that messages leave, by their keys; `refused` has offsets of messages."""
    placed: list[PositionedChange] = []
    options = DecodeOptions(source.format, **source.options)
    for offset, message in enumerate(sent):
        for number, (found, _) in enumerate(options.elements(message)):
            assert isinstance(found, cw.Change), found
            if offset not in refused:
                place = ChangePosition("topic", 0, offset, number)
                placed.append(PositionedChange(_as_tables(found), place))
    (rows,) = tables_of(placed, befores_wait=True).values()
    return {tuple(value for _, value in key): row for key, row in rows.items()}


def _as_tables(change: cw.Change) -> cw.Change:
    """Return a change with the keys of records as tables have them: a digest, and a user key."""
    if change.source.system != "aerospike":
        return change
    assert change.key is not None
    key = {DIGEST: b64encode(change.key[DIGEST]).decode()}
    own = {USER_KEY: str(change.attributes["user_key"])}
    return replace(change, key=key, after=change.after and {**change.after, **own})


def lost(
    rows: Mapping[Any, Mapping[str, Any]],
    table: Iterable[Mapping[str, Any]],
    keys: Sequence[str],
    of_json: Collection[str],
) -> list[str]:
    """Return the values that a table lacks, or has and should not have.

    Args:
        rows: Rows that it should have, by their keys.
        table: Its rows.
        keys: Columns of its key.
        of_json: Its columns of JSON text.
    """
    found = {tuple(row[name] for name in keys): row for row in table}
    faults = [f"{key}: no such row" for key in found.keys() ^ rows.keys()]
    for key in found.keys() & rows.keys():
        faults += [f"{key}: {fault}" for fault in _faults(rows[key], found[key], of_json)]
    return faults


def _faults(
    row: Mapping[str, Any], found: Mapping[str, Any], of_json: Collection[str]
) -> Iterator[str]:
    rescued = json.loads(found["_changewire"]["rescued"] or "{}")
    left = {n for n, value in found.items() if value is not None and n != "_changewire"}
    folded = {name.lower(): name for name in found}
    for name, value in row.items():
        if value is None:
            continue
        column = name if name in found else folded.get(name.lower(), name)
        if column in left and _holds(found[column], value, is_json=column in of_json):
            left.remove(column)
            continue
        kept = next((one for one in (name, column) if one in rescued), None)
        if kept is None or not _is_same(rescued.pop(kept), value):
            yield f"{name!r} is {value!r}, the table has {found.get(column)!r}"
    yield from (f"{name!r} should not be {found[name]!r}" for name in left)
    yield from (f"{name!r} should not be rescued" for name in rescued)


def _holds(cell: Any, value: Any, *, is_json: bool) -> bool:
    """Whether the cell of a column has a value."""
    if is_json:
        return _is_same(json.loads(cell), value)
    if isinstance(cell, str) or isinstance(value, (bytes, datetime, bool)):
        return type(cell) is type(value) and bool(cell == value)
    if isinstance(cell, bool) or not isinstance(cell, (int, float, Decimal)):
        return False
    if isinstance(value, str):
        return str(float(cell)) == value.lower()
    is_nan = cell != cell and value != value  # noqa: PLR0124 - NaN differs from itself
    if isinstance(value, float) and isinstance(cell, Decimal):
        return cell == Decimal(repr(value))
    is_rounded = isinstance(value, Decimal) and isinstance(cell, float)
    return is_nan or bool(cell == (float(value) if is_rounded else value))


def _is_same(kept: Any, value: Any) -> bool:
    """Whether a value of JSON text is a value, which JSON may have as text."""
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - as above
        return bool(kept == "NaN")
    if isinstance(value, Decimal):
        return not isinstance(kept, bool) and Decimal(kept) == value
    plain = json.loads(msgspec.json.encode(value))
    return type(kept) is type(plain) and bool(kept == plain)
