"""What a table and its tombstones have of some keys, read by queries of delta-rs.

Columns have any name, so queries give them names of their own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from changewire.engines.delta.queries import read
from changewire.engines.delta.shapes import Shape
from changewire.engines.delta.tables import DeltaTables
from changewire.engines.json_rows import KEY
from changewire.engines.typed.mutations import Row
from changewire.engines.typed.types import without_metadata
from changewire.tables.metadata import COLUMN

_NUMBER: Final = "number"
_PATCHED: Final = (
    f" WHERE held.\"{COLUMN}\"['columns'] IS NOT NULL OR held.\"{COLUMN}\"['floor'] IS NOT NULL"
)


class HeldRow(NamedTuple):
    """A row of a table.

    Attributes:
        number: Number of its key among those that are wanted; None for another one.
        columns: Its columns.
    """

    number: int | None
    columns: Row


class WantedKeys(NamedTuple):
    """Keys as a table that queries can join: delta-rs takes no others.

    Attributes:
        table: Has a number for each key, its text, and its columns.
        is_same: Condition that a row of the table has the key.
    """

    table: DeltaTable
    is_same: str


@contextmanager
def wanted_keys(keys: Sequence[tuple[str, Row]], shape: Shape) -> Generator[WantedKeys, None, None]:
    """Give keys, by their texts and their columns, as a table."""
    names = {name: f"c{i}" for i, name in enumerate(shape.keys)}
    types = {field.name: field.type for field in without_metadata(shape.schema)}
    columns = {
        _NUMBER: pa.array(range(len(keys)), pa.int64()),
        "text": pa.array([text for text, _ in keys], pa.string()),
        **{
            column: pa.array([named[name] for _, named in keys], types[name])
            for name, column in names.items()
        },
    }
    is_same = same_key([*names.items()], [named for _, named in keys], "wanted")
    with tempfile.TemporaryDirectory(prefix="changewire-") as folder:
        write_deltalake(folder, pa.table(columns))
        yield WantedKeys(DeltaTable(folder), is_same)


def same_key(names: Iterable[tuple[str, str]], rows: Sequence[Row], alias: str = "rows") -> str:
    """Return the condition that a row of ``held`` has the key of a row of `alias`.

    NULL is compared only where a row has it, because a join by equality takes less time.

    Args:
        names: Columns of the key in ``held``, and in `alias`.
        rows: The rows of `alias`, with the names of ``held``.
        alias: What the query names them.
    """
    conditions = []
    for name, column in names:
        is_same = "IS NOT DISTINCT FROM" if any(row[name] is None for row in rows) else "="
        conditions.append(f"(held.{quoted(name)} {is_same} {alias}.{quoted(column)})")
    return " AND ".join(conditions)


def held_rows(tables: DeltaTables, wanted: WantedKeys) -> Iterator[HeldRow]:
    """Yield the rows of keys."""
    return _rows(tables, f" JOIN wanted ON {wanted.is_same}", wanted)


def patched_rows(tables: DeltaTables, wanted: WantedKeys) -> Iterator[HeldRow]:
    """Yield the rows that patches made, of any key."""
    return _rows(tables, f" LEFT JOIN wanted ON {wanted.is_same}{_PATCHED}", wanted)


def held_tombstones(tables: DeltaTables, wanted: WantedKeys) -> Iterator[tuple[int, Any]]:
    """Yield the tombstones of keys: the number of the key, and the column of metadata."""
    query = (
        f'SELECT wanted.{_NUMBER} AS {_NUMBER}, held."{COLUMN}" AS metadata FROM held '  # noqa: S608
        f'JOIN wanted ON held."{KEY}" = wanted.text'
    )
    for row in read(tables.tombstones, query, wanted=wanted.table):
        yield row[_NUMBER], row["metadata"]


def _rows(tables: DeltaTables, condition: str, wanted: WantedKeys) -> Iterator[HeldRow]:
    if tables.table is None:
        return
    names = tables.shape.schema.names
    columns = ", ".join(f"held.{quoted(name)} AS c{i}" for i, name in enumerate(names))
    query = f"SELECT wanted.{_NUMBER} AS {_NUMBER}, {columns} FROM held{condition}"  # noqa: S608 - quoted
    for row in read(tables.table, query, wanted=wanted.table):
        yield HeldRow(row[_NUMBER], {name: row[f"c{i}"] for i, name in enumerate(names)})


def quoted(name: str) -> str:
    """Return a name as SQL of DataFusion has it."""
    return '"' + name.replace('"', '""') + '"'


def unused_name(name: str, names: Collection[str]) -> str:
    """Return a name, made longer until it differs from some others."""
    while name in names:
        name += "_"
    return name
