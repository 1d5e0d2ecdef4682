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

from changewire.engines.errors import OutputError
from changewire.engines.layout import RECORD_PLACE
from changewire.engines.log import ELEMENT_PLACE, lacking
from changewire.engines.python.parquet import OutputFile
from changewire.engines.typed.types import type_name

if sys.platform != "win32":
    import fcntl

PART_BYTES: Final = 2**29
"""Bytes of rows from which on a file of a log is closed; it has about a tenth of them."""

_STDIN: Final = "-"
_BEGUN: Final = ".changewire-"
"""Begins the names of files that are not whole; readers of folders skip such names."""

_HIDDEN: Final = (".", "_")


class ParquetLog:
    """A log that rows are appended to.

    Rows are there for readers once their file is whole and has its name. A run that is killed
    leaves whole files, and one that the next run removes.
    """

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        """Read what the log has; the schema is that of its rows.

        Raises:
            OutputError: The folder is not such a log.
        """
        self._folder = folder
        self._schema = schema
        self._log = _opened(folder, schema)
        self._path: Path | None = None
        self._file: OutputFile | None = None
        self._bytes = 0

    @property
    def has_enough(self) -> bool:
        """Whether what was appended is enough for a file."""
        return self._bytes >= PART_BYTES

    def lacking(self, rows: pa.Table) -> pa.Table:
        """Return the elements of decoded rows of one file that the log does not have, each once.

        Records of standard input have no position by which they would be known again, so it has
        none of them.
        """
        if self._log is None or not len(rows) or rows["path"][0].as_py() == _STDIN:
            return rows
        return lacking(rows, self._held(rows))

    def append(self, rows: pa.Table) -> None:
        """Append rows, with the columns of the log."""
        if not len(rows):
            return
        if self._file is None:
            self._begin()
        for batch in rows.to_batches():
            self._writer().write(batch)
        self._bytes += rows.nbytes

    def commit(self) -> None:
        """Give readers what was appended."""
        if self._file is None or self._path is None:
            return
        self._file.close()
        self._path.replace(self._folder / f"part-{self._path.name.removeprefix(_BEGUN)}.parquet")
        self._file, self._path, self._bytes = None, None, 0

    def finish(self) -> None:
        """Give readers what was appended; a log without rows gets a file that has its columns."""
        if self._log is None and not _files(self._folder) and self._file is None:
            self._begin()
        self.commit()

    def abandon(self) -> None:
        """Remove what was appended since the last commit."""
        if self._file is not None and self._path is not None:
            self._file.abandon()
            self._path.unlink(missing_ok=True)

    def _begin(self) -> None:
        self._path = self._folder / f"{_BEGUN}{uuid4().hex}"
        self._file = OutputFile(self._path, self._schema, named=self._folder)

    def _writer(self) -> OutputFile:
        assert self._file is not None  # noqa: S101 - for type checkers
        return self._file

    def _held(self, rows: pa.Table) -> Iterator[pa.Table]:
        """Yield the places of the log that may be those of rows."""
        assert self._log is not None  # noqa: S101 - as above
        where = reduce(and_, (_between(rows, name) for name in RECORD_PLACE))
        for batch in self._log.to_batches(columns=[*ELEMENT_PLACE], filter=where):
            yield pa.Table.from_batches([batch])


@contextmanager
def parquet_log(folder: Path, schema: pa.Schema) -> Generator[ParquetLog, None, None]:
    """Give a log to append rows to, which no other run appends to at the same time.

    Args:
        folder: Its folder, which is made, and removed again if nothing comes to be in it.
        schema: Columns of its rows.

    Raises:
        OutputError: The folder is not such a log, or another run writes to it.
        OSError: A file cannot be written; it names the folder.
    """
    made = [path for path in (folder, folder.parent) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _claimed(folder):
            log = ParquetLog(folder, schema)
            try:
                yield log
                log.finish()
            except BaseException:
                log.abandon()
                raise
    finally:
        for path in made:
            with suppress(OSError):  # it is not empty
                path.rmdir()


def _opened(folder: Path, schema: pa.Schema) -> Any:
    """Return a log as a dataset of Arrow; None if it has no file.

    Raises:
        OutputError: The folder is not a log of Parquet files, or has other columns.
    """
    files = _files(folder)
    if not files:
        return None
    try:
        found = ds.dataset([str(file) for file in files], format="parquet")
    except pa.ArrowException as error:
        raise OutputError(f"{folder}: it is not a log of Parquet files ({error})") from error
    there = {field.name: type_name(field.type) for field in found.schema}
    for field in schema:
        kind = type_name(field.type)
        if there.get(field.name) != kind:
            has = f"has {there[field.name]}" if field.name in there else "lacks it"
            raise OutputError(
                f"log: a column {field.name} of type {kind} is needed, and {folder} {has}; choose "
                "another output folder"
            )
    return found


def _files(folder: Path) -> list[Path]:
    """Return the files of a log.

    Raises:
        OutputError: It is a table of Delta or Iceberg, or something else.
    """
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
    """Hold a lock on a folder, and first remove what a killed run left there.

    The system releases the lock of a process that is killed. Where a folder cannot be locked, as on
    Windows and some network drives, nothing is removed.

    Raises:
        OutputError: Another run holds it.
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
