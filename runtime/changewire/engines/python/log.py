"""The log of a run without Spark and without tables: a folder of Parquet files."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from changewire.engines.errors import OutputError, naming
from changewire.engines.layout import RECORD_PLACE
from changewire.engines.log import ADDED, HELD, lacking
from changewire.engines.typed.types import columns_as_json, differing

if sys.platform != "win32":
    import fcntl

PART_BYTES: Final = 2**29
"""Bytes of rows from which on a file of a log is closed; it has about a tenth of them."""

GROUP_ROWS: Final = 4096
GROUP_BYTES: Final = 8 * 2**20
"""Size from which rows are written as a row group."""

_BEGUN: Final = ".changewire-"
"""Begins the names of files that are not whole; readers of folders skip such names."""

_HIDDEN: Final = (".", "_")


class OutputFile:
    """A Parquet file that gathers small batches to row groups; `size` is how many bytes they had.

    An error of the system names the file, or what is given to be named.
    """

    def __init__(self, path: Path, schema: pa.Schema, named: Path | None = None) -> None:
        """Open the file."""
        self.path: Path = path
        self.size: int = 0
        self._named = named or path
        with naming(self._named):
            self._writer = pq.ParquetWriter(path, schema)
        self._pending: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows; they are written when a row group is full."""
        if len(batch):
            self._pending.append(batch)
            self.size += batch.nbytes
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
        """Close the file, if it is open, and remove it: what wrote it has failed."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        self.path.unlink(missing_ok=True)

    def _flush(self) -> None:
        if self._pending:
            with naming(self._named):
                self._writer.write_table(pa.Table.from_batches(self._pending))
        self._pending, self._rows, self._bytes = [], 0, 0


class ParquetLog:
    """A log that rows are appended to.

    Readers see rows once their file is whole and has its name. A run that is killed
    leaves whole files, and one that the next run removes.
    """

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        """Read the content of the log; the schema is that of its rows."""
        self._folder = folder
        self._schema = schema
        self._log = _opened(folder, schema)
        self._file: OutputFile | None = None
        self._has_file = self._log is not None

    @property
    def has_enough(self) -> bool:
        """Whether what was appended is enough for a file."""
        return self._file is not None and self._file.size >= PART_BYTES

    def lacking(self, rows: pa.Table) -> pa.Table:
        """Return the elements of decoded rows of one file that it does not have, each once."""
        if self._log is None or not len(rows):
            return rows
        return lacking(rows, self._held(rows))

    def _held(self, rows: pa.Table) -> Iterator[pa.Table]:
        """Yield the rows of the log whose places may be those of rows."""
        where = reduce(and_, (_between(rows, name) for name in RECORD_PLACE))
        for batch in self._log.to_batches(columns=[*HELD], filter=where):
            yield pa.Table.from_batches([batch])

    def append(self, rows: pa.Table) -> None:
        """Append rows, with the columns of the log."""
        for batch in rows.to_batches():
            if len(batch):
                self._begun().write(batch)

    def commit(self) -> None:
        """Give readers what was appended."""
        if self._file is not None:
            self._file.close()
            name = f"part-{self._file.path.name.removeprefix(_BEGUN)}.parquet"
            self._file.path.replace(self._folder / name)
            self._file = None

    def finish(self) -> None:
        """Give readers what was appended; a log without rows gets a file that has its columns."""
        if not self._has_file:
            self._begun()
        self.commit()

    def abandon(self) -> None:
        """Remove what was appended since the last commit."""
        if self._file is not None:
            self._file.abandon()

    def _begun(self) -> OutputFile:
        """Return the file that rows are appended to."""
        if self._file is None:
            path = self._folder / f"{_BEGUN}{uuid4().hex}"
            self._file = OutputFile(path, self._schema, named=self._folder)
            self._has_file = True
        return self._file


@contextmanager
def parquet_log(folder: Path, schema: pa.Schema) -> Generator[ParquetLog, None, None]:
    """Give a log to append rows to, which no other run appends to at the same time.

    Its folder is made, and removed again if nothing comes to be in it.
    """
    made = [path for path in (folder, folder.parent) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _claimed(folder):
            log = ParquetLog(folder, schema)
            try:
                yield log
                log.finish()
            finally:
                log.abandon()
    finally:
        for path in made:
            with suppress(OSError):  # it is not empty
                path.rmdir()


def _opened(folder: Path, schema: pa.Schema) -> Any:
    """Return a log as a dataset of Arrow; None if it has no file."""
    files = _files(folder)
    if not files:
        return None
    try:
        found = ds.dataset([str(file) for file in files], format="parquet")
    except pa.ArrowException as error:
        raise OutputError(f"{folder}: it is not a log of Parquet files ({error})") from error
    there = {*found.schema.names}
    needed = pa.schema([one for one in schema if one.name in there or one.name not in ADDED])
    for name, kind, has in differing(columns_as_json(found.schema), columns_as_json(needed)):
        raise OutputError(
            f"log: a column {name} of type {kind} is needed, and {folder} {has}; choose another "
            "output folder"
        )
    return found


def _files(folder: Path) -> list[Path]:
    """Return the files of a log."""
    if (folder / "_delta_log").exists():
        raise OutputError(
            f"{folder}: it is a table of Delta, and this run writes Parquet files; choose another "
            "output folder, or merge into tables"
        )
    found = sorted(path for path in folder.iterdir() if not path.name.startswith(_HIDDEN))
    for path in found:
        if path.suffix != ".parquet" or path.is_dir():
            raise OutputError(
                f"{path}: no run wrote this, and it would be taken for a part of the log; choose "
                "another output folder"
            )
    return found


def _between(rows: pa.Table, name: str) -> ds.Expression:
    """Return the condition that a column has values between those of rows, by which Arrow skips."""
    least, most = pc.min_max(rows[name]).as_py().values()
    column = ds.field(name)
    if least is None:
        return column.is_null()
    within = (column >= least) & (column <= most)
    return within | column.is_null() if rows[name].null_count else within


@contextmanager
def _claimed(folder: Path) -> Generator[None, None, None]:
    """Keep a lock on a folder, and first remove what a killed run left there.

    The system releases the lock of a process that is killed. If a folder cannot be locked, as on
    Windows and some network drives, nothing is removed.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(
                    f"{folder}: another run writes to it; run this one again when that has ended"
                ) from None
            for left in folder.glob(f"{_BEGUN}*"):
                left.unlink(missing_ok=True)
        yield
    finally:
        os.close(descriptor)
