"""Times in the form INT96, as a Spark of its own settings writes them, without Spark."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake

from changewire.engines.merge import delta
from changewire.engines.merge.table import LocalTable
from changewire.engines.merge.verify import rows_in

TIME = pa.timestamp("us", "UTC")
FAR, NEAR = datetime(9999, 12, 31, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)


def made(
    path: Path, *times: datetime, kind: Any = TIME, is_old: bool = True, has_statistics: bool = True
) -> str:
    """Make a table with times, each in the row of its number, and let Spark have written it."""
    column = pa.array([{"a": one} if kind != TIME else one for one in times], kind)
    rows = pa.table({"id": range(len(times)), "until": column})
    write_deltalake(path, rows)
    (file,), (log,) = path.glob("*.parquet"), (path / "_delta_log").glob("*0.json")
    pq.write_table(rows, file, use_deprecated_int96_timestamps=is_old, store_schema=False)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["size"] = file.stat().st_size
            if not has_statistics:
                del line["add"]["stats"]
    log.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


def test_times_of_all_years_are_read(tmp_path: Path) -> None:
    """`verify` compares them, and every other scan has them."""
    path = made(tmp_path / "t", FAR, NEAR)
    table = LocalTable(DeltaTable(path), path, "")
    assert rows_in(path, table, ["until"])["until"].to_pylist() == [FAR, NEAR]
    data = delta.dataset_of(path, table.table)
    (found,) = delta.tables_in(path, data, ds.scalar(value=True))
    assert found["until"].to_pylist() == [FAR, NEAR]
