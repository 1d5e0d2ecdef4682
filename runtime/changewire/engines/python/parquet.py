"""The three outputs as Parquet files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from changewire.engines.decode import decoded_schema
from changewire.engines.layout import OUTPUTS
from changewire.engines.outputs import output_of

FILE = "part-00000.parquet"


class Tables:
    """A folder with one Parquet file for each output, open for writing.

    Use it as a context manager; an output without rows gets a file with columns only.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made when the first rows are written."""
        self._folder = folder
        self._writers: dict[str, pq.ParquetWriter] = {}

    def __enter__(self) -> Tables:  # noqa: PYI034 - typing has Self since 3.11
        """Return the tables."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files."""
        if kind is None and not self._writers:
            self.write(pa.RecordBatch.from_pylist([], schema=decoded_schema()))
        for writer in self._writers.values():
            writer.close()

    def write(self, rows: pa.RecordBatch) -> None:
        """Append decoded rows, each to the output of its kind."""
        for name, kind in OUTPUTS.items():
            table = pa.Table.from_batches([output_of(rows, kind)])
            if name not in self._writers:
                (self._folder / name).mkdir(parents=True, exist_ok=True)
                self._writers[name] = pq.ParquetWriter(self._folder / name / FILE, table.schema)
            if len(table):
                self._writers[name].write_table(table)


@contextmanager
def staged(output: str) -> Generator[Tables, None, None]:
    """Give tables that are written beside an output, and moved there at the end.

    What is raised before leaves the output as it was.

    Args:
        output: Folder of the outputs; those are replaced.
    """
    Path(output).mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix="_staging-", dir=output))
    try:
        with Tables(staging) as tables:
            yield tables
        _publish(staging, Path(output))
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _publish(staging: Path, output: Path) -> None:
    """Replace the outputs by what was staged."""
    for name in OUTPUTS:
        shutil.rmtree(output / name, ignore_errors=True)
        (staging / name).replace(output / name)
