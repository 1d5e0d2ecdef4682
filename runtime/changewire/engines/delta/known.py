"""What is known of earlier runs: the tables that they fed, and deletes that name none.

Both are kept in the checkpoint, as the Spark engine keeps them: a folder for each batch. Spark
counts its batches from 0. A batch here has a negative number, made of what it keeps, so that one
that is done again overwrites its folder, and none of the other engine's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from changewire.engines.delta.columns import EFFECTS_KEPT, TARGETS
from changewire.tables.names import Target
from changewire.tables.routing import Namespace
from changewire.tables.ways import Known

_TABLES: Final = "changewire_tables"
_DELETES: Final = "changewire_deletes"
_BATCH: Final = "batch"
_FILE: Final = "part-00000.parquet"
_NUMBER_BYTES: Final = 7
"""Of a digest, so that a number is one of 64 bits with its sign."""


def known_tables(checkpoint: str) -> Known:
    """Return the tables that earlier batches fed."""
    known = Known()
    for row in sorted(_read(checkpoint, _TABLES, TARGETS), key=itemgetter(_BATCH)):
        known.add(Target(row["name"], tuple(row["origin"])), (row["system"], row["database"]))
    return known


def keep_tables(checkpoint: str, added: Iterable[tuple[Target, Namespace]]) -> None:
    """Keep the tables that a batch was the first to feed."""
    rows = [
        {"system": system, "database": database, "name": target.name, "origin": [*target.origin]}
        for target, (system, database) in added
    ]
    _write(rows, checkpoint, _TABLES, TARGETS)


def keep_deletes(checkpoint: str, deletes: Iterable[dict[str, Any]]) -> None:
    """Keep deletes that name no table, for tables to come; they have columns `EFFECTS_KEPT`."""
    _write([*deletes], checkpoint, _DELETES, EFFECTS_KEPT)


def kept_deletes(checkpoint: str, namespaces: Collection[Namespace]) -> Iterator[dict[str, Any]]:
    """Yield kept deletes of some namespaces."""
    for row in _read(checkpoint, _DELETES, EFFECTS_KEPT):
        if (row["source"]["system"], row["source"]["database"]) in namespaces:
            yield row


def _write(rows: list[dict[str, Any]], checkpoint: str, folder: str, columns: pa.Schema) -> None:
    if not rows:
        return
    digest = hashlib.sha256(msgspec.json.encode(rows)).digest()
    number = -1 - int.from_bytes(digest[:_NUMBER_BYTES], "big")
    place = Path(checkpoint, folder, f"{_BATCH}={number}")
    place.mkdir(parents=True, exist_ok=True)
    begun = place / f".{_FILE}"
    pq.write_table(pa.Table.from_pylist(rows, columns), begun)
    begun.replace(place / _FILE)


def _read(checkpoint: str, folder: str, columns: pa.Schema) -> Iterator[dict[str, Any]]:
    place = Path(checkpoint, folder)
    if not place.is_dir():
        return
    numbered = columns.append(pa.field(_BATCH, pa.int64()))
    found = ds.dataset(place, schema=numbered, format="parquet", partitioning="hive")
    for batch in found.to_batches():
        yield from batch.to_pylist()
