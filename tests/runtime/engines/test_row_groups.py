"""Small batches are gathered to row groups, so that memory and files both stay small."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from changewire.engines.python.log import GROUP_BYTES, GROUP_ROWS, OutputFile


def sizes(path: Path, batches: list[pa.RecordBatch]) -> list[int]:
    """Write batches to a file; return the rows of its row groups."""
    output = OutputFile(path, batches[0].schema)
    for batch in batches:
        output.write(batch)
    output.close()
    assert pq.read_table(path) == pa.Table.from_batches(batches)
    metadata = pq.read_metadata(path)
    return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]


def test_small_batches_are_gathered(tmp_path: Path) -> None:
    """A row group is written when it has enough rows, the last one when the file is closed."""
    batch = pa.RecordBatch.from_pydict({"a": list(range(1000))})
    assert sizes(tmp_path / "f", [batch] * 12) == [5000, 5000, 2000]
    assert GROUP_ROWS == 4096


def test_a_row_group_is_bounded_by_bytes(tmp_path: Path) -> None:
    """Long values are written before there are many."""
    batch = pa.RecordBatch.from_pydict({"a": [b"x" * (GROUP_BYTES // 8)] * 4})
    assert sizes(tmp_path / "f", [batch] * 3) == [8, 4]


def test_a_file_without_rows_has_its_columns(tmp_path: Path) -> None:
    """No row group is needed for a file to be read."""
    assert sizes(tmp_path / "f", [pa.RecordBatch.from_pydict({"a": pa.array([], "int64")})]) == []
