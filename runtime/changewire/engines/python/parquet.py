"""The outputs as Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from changewire.engines.outputs import output_of
from changewire.engines.staging import naming

FILE = "part-00000.parquet"

GROUP_ROWS = 4096
GROUP_BYTES = 8 * 2**20
"""Size from which rows are written as a row group."""


class ParquetWriters:
    """A folder with one Parquet file for each output, open for writing.

    Use it as a context manager; an output without rows gets a file with columns only.
    """

    def __init__(self, folder: Path, schema: pa.Schema, kinds: Mapping[str, str]) -> None:
        """Name the folder, which is made when the first rows are written.

        Args:
            folder: The folder.
            schema: Columns of decoded rows.
            kinds: Kind of the rows that each output takes.
        """
        self._folder = folder
        self._schema = schema
        self._kinds = kinds
        self._outputs: dict[str, OutputFile] = {}

    def __enter__(self) -> ParquetWriters:  # noqa: PYI034 - typing has Self since 3.11
        """Return the tables."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files."""
        try:
            if kind is None and not self._outputs:
                self.write(pa.RecordBatch.from_pylist([], schema=self._schema))
            for output in self._outputs.values() if kind is None else ():
                output.close()
        finally:
            for output in self._outputs.values():
                output.abandon()

    def write(self, rows: pa.RecordBatch) -> None:
        """Append decoded rows, each to the output of its kind."""
        for name, kind in self._kinds.items():
            batch = output_of(rows, kind)
            if name not in self._outputs:
                (self._folder / name).mkdir(parents=True, exist_ok=True)
                self._outputs[name] = OutputFile(self._folder / name / FILE, batch.schema)
            self._outputs[name].write(batch)


class OutputFile:
    """A Parquet file that gathers small batches to row groups."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Open the file."""
        self._path = path
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
        with naming(self._path):
            self._writer.close()

    def abandon(self) -> None:
        """Close the file, if it is open, without what is pending: what wrote it has failed."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()

    def _flush(self) -> None:
        if self._pending:
            with naming(self._path):
                self._writer.write_table(pa.Table.from_batches(self._pending))
        self._pending, self._rows, self._bytes = [], 0, 0
