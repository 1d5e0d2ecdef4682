"""Times in the form INT96, as a Spark of its own settings writes them, without Spark."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake

import changewire.arrow as cwa
import changewire.delta as cwd
from changewire.engines.errors import OutputError
from changewire.engines.merge import delta
from changewire.engines.merge.table import LocalTable
from changewire.engines.merge.verify import rows_in

TIME = pa.timestamp("us", "UTC")
ROWS = pa.schema([("id", pa.int64()), ("until", TIME)])
FAR, NEAR = datetime(9999, 12, 31, tzinfo=timezone.utc), datetime(2024, 1, 1, tzinfo=timezone.utc)


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


@pytest.mark.parametrize("kind", [TIME, pa.struct([("a", TIME)])])
@pytest.mark.parametrize("has_statistics", [False, True])
def test_a_table_whose_times_would_change_is_not_adopted(
    tmp_path: Path, kind: Any, *, has_statistics: bool
) -> None:
    """Delta-rs would change times of rows that no change is about."""
    path = made(tmp_path / "t", FAR, NEAR, kind=kind, has_statistics=has_statistics)
    with pytest.raises(OutputError, match=r"until has times in the form INT96.*TIMESTAMP_MICROS"):
        cwd.adopt_table(path, key_columns=["id"])
    assert DeltaTable(path).version() == 0


@pytest.mark.parametrize("times", [(FAR, NEAR), (NEAR, NEAR)])
def test_times_that_stay_what_they_are(tmp_path: Path, times: tuple[datetime, ...]) -> None:
    """A file with other times, or with times that delta-rs reads by nanoseconds, is written."""
    lake, is_old = Lake(tmp_path), FAR not in times
    path = made(tmp_path / "tables" / "t", *times, is_old=is_old)
    cwd.adopt_table(path, key_columns=["id"])
    sent = {"id": 1, "until": "2025-01-01T00:00:00Z"}
    update = message("UPDATE_AFTER", 2, sent, types={"id": "LONG", "until": "STRING"})
    assert lake.apply_records(records(update), row_schema=ROWS).tables == {"updated": 1}
    found = {row["id"]: row["until"] for row in lake.rows()}
    assert found == {0: times[0], 1: datetime(2025, 1, 1, tzinfo=timezone.utc)}


def test_changes_of_a_table_that_got_such_a_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Spark of its own settings may have written a file of a table that is merged into."""
    lake = Lake(tmp_path)
    path = made(tmp_path / "tables" / "t", FAR, NEAR)
    with monkeypatch.context() as patch:
        patch.setattr("changewire.engines.merge.adopt.check_times", Mock())
        cwd.adopt_table(path, key_columns=["id"])
    sent = {"id": 1, "until": "2025-01-01T00:00:00Z"}
    update = message("UPDATE_AFTER", 2, sent, types={"id": "LONG", "until": "STRING"})
    assert lake.apply_records(records(update), row_schema=ROWS).tables == {"refused": 1}
    (refused,) = cwa.refused(lake.places["log"]).to_pylist()
    assert refused["code"] == "table-not-writable"
    assert "INT96" in refused["message"]


def test_times_of_all_years_are_read(tmp_path: Path) -> None:
    """`verify` compares them, and every other scan has them."""
    path = made(tmp_path / "t", FAR, NEAR)
    table = LocalTable(DeltaTable(path), path, "")
    assert rows_in(path, table, ["until"])["until"].to_pylist() == [FAR, NEAR]
    data = delta.dataset_of(path, table.table)
    (found,) = delta.tables_in(path, data, ds.scalar(value=True))
    assert found["until"].to_pylist() == [FAR, NEAR]
