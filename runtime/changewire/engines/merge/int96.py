"""Times in the old form INT96 of Parquet, which a Spark of its own settings writes."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from changewire.engines.merge import delta

_RIGHT: Final = (
    datetime(1678, 1, 1, tzinfo=timezone.utc),
    datetime(2262, 1, 1, tzinfo=timezone.utc),
)
"""Times between these have nanoseconds in 64 bits, as which delta-rs reads INT96."""

_REASON: Final = (
    "the column {name} has times in the form INT96, of which delta-rs changes those before 1677 or "
    "after 2262, also in rows that no change is about: let Spark write its files again with "
    "spark.sql.parquet.outputTimestampType=TIMESTAMP_MICROS"
)

_seen: Final = dict[tuple[str, str], set[str]]()
"""Names of files whose times have another form, by the id of a table and a column."""


def check_times(path: str, table: DeltaTable) -> None:
    """Refuse a table with times that delta-rs would change as it writes a file again.

    A file is opened once, and only if its statistics do not say that its times are safe.
    """
    names = [one["name"] for one in delta.columns_of(table.schema())["fields"] if _has_times(one)]
    if not names:
        return
    files, whose = pa.table(table.get_add_actions(flatten=True)), str(table.metadata().id)
    for name in names:
        unsafe = {*_unsafe(files, name)}
        new = unsafe - _seen.get((whose, name), set())
        data = delta.dataset_of(path, table) if new else None
        for one in () if data is None else data.get_fragments():
            with delta.reported(path, pa.ArrowInvalid):
                if posixpath.basename(one.path) in new and _is_int96(data, one.path, name):
                    raise delta.UnwritableError(path, _REASON.format(name=name))
        _seen[whose, name] = unsafe


def _has_times(field: Any) -> bool:
    return "timestamp" in json.dumps(field["type"])


def _unsafe(files: pa.Table, name: str) -> Iterator[str]:
    """Yield the names of files whose statistics do not say that all times of a column are safe."""
    bounds = (f"min.{name}", f"max.{name}")
    is_safe: Any = pa.repeat(pa.scalar(value=False), len(files))
    if {*bounds} <= {*files.column_names}:
        least, most = (files[bound].cast(pa.timestamp("us", "UTC")) for bound in bounds)
        is_safe = pc.and_(pc.greater_equal(least, _RIGHT[0]), pc.less(most, _RIGHT[1]))
    found = files.filter(pc.invert(pc.fill_null(is_safe, False)))  # noqa: FBT003
    yield from map(posixpath.basename, found["path"].to_pylist())


def _is_int96(data: Any, path: str, name: str) -> bool:
    with data.filesystem.open_input_file(path) as file:
        schema = pq.ParquetFile(file).schema
    leaves = (schema.column(number) for number in range(len(schema.names)))
    return any(
        one.physical_type == "INT96" and f"{one.path}.".startswith(f"{name}.") for one in leaves
    )
