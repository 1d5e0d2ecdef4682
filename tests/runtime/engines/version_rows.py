"""Change logs of drawn histories, and tables of versions as the model has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
import pyarrow as pa
from msgspec.structs import replace
from tests.runtime.engines.merge_local.lake import ChangeDecoder, recorded, records_of
from tests.runtime.tables.model import Key, Version, key_of

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.log import ATTEMPT, log_rows, refused_rows
from changewire.tables import PositionedChange
from changewire.tables.routing import Refusal
from changewire_messages.change import Change

SPANS: Final = frozenset({"valid_from", "valid_to", "is_current", "op", "_changewire"})
"""Columns of versions beside those of their rows."""

TARGET: Final = "/lake/{table}"
"""The target that refuses changes, unless another one is given."""

LINES = [
    b'{"msg": "write", "key": ["shop", "users", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", "u-17"],'
    b' "gen": %d, "exp": 0, "lut": %d, "bins": [{"name": "age", "type": "int", "value": %d}]}'
    % numbers
    for numbers in [(4, 1617167159548, 41), (5, 1617167160000, 42), (4, 1617167159548, 41)]
]
"""Messages of Aerospike: a write of a row, a later one, and the first once more."""


def log_of(*attempts: Sequence[PositionedChange]) -> pa.Table:
    """Return changes as a log has them, those of each later argument as replayed once more."""
    parts = [_logged(batch, attempt) for attempt, batch in enumerate(attempts)]
    return pa.concat_tables(parts)


def as_log(decoded: pa.Table) -> pa.Table:
    """Return decoded rows as a log has them."""
    return log_rows(decoded)


def refused(batch: Sequence[PositionedChange], attempt: int = 0, target: str = TARGET) -> pa.Table:
    """Return the rows that say that no table of a target takes these changes."""
    rows = log_rows(_decoded(batch))
    why = dict.fromkeys(range(len(rows)), Refusal("schema-mismatch", "/after/a", "too long"))
    return _attempt(refused_rows(rows, why, target), attempt)


def _logged(batch: Sequence[PositionedChange], attempt: int) -> pa.Table:
    return _attempt(log_rows(_decoded(batch)), attempt)


def _attempt(rows: pa.Table, attempt: int) -> pa.Table:
    column = pa.array([attempt] * len(rows), pa.int32())
    return rows.set_column(rows.column_names.index(ATTEMPT), ATTEMPT, column)


def _decoded(batch: Sequence[PositionedChange]) -> pa.Table:
    decode = ChangeDecoder(DecodeOptions("dataworks-json"))
    rows = [one for part in recorded(records_of(batch)).to_batches() for one in decode(part)]
    return pa.Table.from_batches(rows, decode.schema())


def versions_in(rows: Iterable[dict[str, Any]]) -> dict[Key, list[Version]]:
    """Return the rows of a table of versions as `model.versions_of` has them."""
    parsed = ((*map(msgspec.json.decode, (row["key"], row["row"])), row) for row in rows)
    return _by_key(parsed)


def typed_versions_in(rows: Iterable[dict[str, Any]]) -> dict[Key, list[Version]]:
    """Return the same of rows that are columns of a type; columns that are NULL are not there."""
    return _by_key(({"id": row["id"]}, _columns(row), row) for row in rows)


def declared(history: Iterable[PositionedChange], names: Sequence[str]) -> list[PositionedChange]:
    """Return changes as a type sees them that has these columns, whose values are decimals.

    In a whole row it cannot tell NULL from a column that is not there.
    """
    return [replace(one, change=_declared(one.change, names)) for one in history]


def _declared(change: Change, names: Sequence[str]) -> Change:
    is_whole = change.attributes.get("row_image", "full") == "full"

    def own(row: dict[str, Any] | None) -> Any:
        return row and {
            name: Decimal(value) if isinstance(value, str) and name != "id" else value
            for name, value in row.items()
            if (name in names and not (is_whole and value is None)) or name == "id"
        }

    return replace(change, before=own(change.before), after=own(change.after))


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in row.items() if one is not None and name not in SPANS}


def _by_key(rows: Iterable[tuple[Any, Any, dict[str, Any]]]) -> dict[Key, list[Version]]:
    """Return versions by key, of keys, rows and the rows of the table."""
    found: dict[Key, list[Version]] = {}
    for key, values, row in rows:
        metadata = row["_changewire"]
        end = metadata["ended"]
        version = Version(values, _order(metadata), None if end is None else _order(end))
        assert row["is_current"] == (end is None)
        assert row["op"] == metadata["op"]
        found.setdefault(key_of(key), []).append(version)
    return {key: sorted(versions, key=lambda one: one.began) for key, versions in found.items()}


def _order(fields: dict[str, Any]) -> Any:
    sequence = fields["sequence"]
    place = tuple(fields[name] for name in ("topic", "partition", "offset", "element"))
    return (sequence["major"], sequence["minor"]), place
