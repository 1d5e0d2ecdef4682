"""Change logs of drawn histories, and tables of versions as the model has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import pyarrow as pa
from tests.runtime.engines.delta.lake import ChangeDecoder, records
from tests.runtime.tables.model import Key, Version, key_of

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.outputs import output_of
from changewire.tables import PositionedChange


def log_of(batch: Sequence[PositionedChange]) -> tuple[pa.Table, pa.Table]:
    """Return changes as the outputs ``changes`` and ``controls``."""
    decode = ChangeDecoder(DecodeOptions("dataworks-json"))
    rows = [one for part in records(batch).to_batches() for one in decode(part)]
    schema = decode.schema()
    parts = rows or [pa.RecordBatch.from_pylist([], schema)]
    changes, controls = (
        pa.Table.from_batches([output_of(one, kind) for one in parts]) for kind in (CHANGE, CONTROL)
    )
    return changes, controls


def versions_in(rows: Iterable[dict[str, Any]]) -> dict[Key, list[Version]]:
    """Return the rows of a table of versions as `model.versions_of` has them."""
    found: dict[Key, list[Version]] = {}
    for row in rows:
        metadata, key = row["_changewire"], msgspec.json.decode(row["key"])
        end = metadata["ended"]
        version = Version(
            msgspec.json.decode(row["row"]), _order(metadata), None if end is None else _order(end)
        )
        assert row["is_current"] == (end is None)
        assert row["op"] == metadata["op"]
        found.setdefault(key_of(key), []).append(version)
    return {key: sorted(versions, key=lambda one: one.began) for key, versions in found.items()}


def _order(fields: dict[str, Any]) -> Any:
    sequence = fields["sequence"]
    place = tuple(fields[name] for name in ("topic", "partition", "offset", "element"))
    return (sequence["major"], sequence["minor"]), place
