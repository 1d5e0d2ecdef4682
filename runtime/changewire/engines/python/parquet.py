"""Parquet files of many small batches."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from changewire.engines.errors import naming

GROUP_ROWS = 4096
GROUP_BYTES = 8 * 2**20
"""Size from which rows are written as a row group."""


class OutputFile:
    """A Parquet file that gathers small batches to row groups."""

    def __init__(self, path: Path, schema: pa.Schema, named: Path | None = None) -> None:
        """Open the file; an error of the system names it, or what is given to be named."""
        self._named = named or path
        with naming(self._named):
            self._writer = pq.ParquetWriter(path, schema)
        self._pending: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows; they are written when a row group is full."""
        if len(batch):
            self._pending.append(batch)
            self._rows += len(batch)
            self._bytes += batch.nbytes
        if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Write what is pending, and close the file."""
        self._flush()
        with naming(self._named):
            self._writer.close()

    def abandon(self) -> None:
        """Close the file, if it is open, without what is pending: what wrote it has failed."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()

    def _flush(self) -> None:
        if self._pending:
            with naming(self._named):
                self._writer.write_table(pa.Table.from_batches(self._pending))
        self._pending, self._rows, self._bytes = [], 0, 0
