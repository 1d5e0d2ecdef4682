"""A log, wherever it is: a folder of Delta or Parquet, or a table of any library of Arrow."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs

from changewire.engines.arrow.messages import ArrowStream
from changewire.engines.errors import OutputError, reason_of
from changewire.engines.options import LOG
from changewire.extras import install
from changewire.framing import FramingError

ChangeLog: TypeAlias = str | os.PathLike[str] | ArrowStream
"""A log: the output folder of a run, the folder of a log in Parquet or Delta, or its rows as a
table of any library that speaks Arrow's PyCapsule interface. A table of changes alone, such as
`changewire.arrow.decode(...).changes`, needs no column ``kind``."""

KIND: Final = "kind"

READ_OPTIONS: Final = ds.ParquetReadOptions(coerce_int96_timestamp_unit="us")
"""Lets times in the form INT96 be read in all years, not only in those of nanoseconds."""

_BATCH_ROWS: Final = 1024
_MAPPING: Final = "delta.columnMapping.mode"
_WIDENING: Final = frozenset({"typeWidening", "typeWidening-preview"})
"""Features of Delta tables whose files are what they seem: Arrow widens types as well."""


class LogRows:
    """The rows of a log, which are read as often as they are asked for; place: its folder."""

    def __init__(self, log: Any) -> None:
        """Open a log, which is a `ChangeLog`; without the column ``kind`` all rows are changes."""
        self.place: str | None = None
        if isinstance(log, (str, os.PathLike)):
            folder = os.fspath(log)
            check_folder(folder)
            within = Path(folder, LOG)  # of the output folder of a run
            self.place = str(within) if within.is_dir() else folder
            self._folder = Folder(self.place)
            self._folder.check(KIND)
            self.schema: Any = self._folder.schema
        elif isinstance(log, ArrowStream):
            # A reader is read once only.
            reader = pa.RecordBatchReader.from_stream(log)
            is_once = isinstance(log, pa.RecordBatchReader)
            self._table: Any = reader.read_all() if is_once else log
            self.schema = reader.schema
        else:
            raise TypeError(f"expected a folder or a table, not {type(log).__name__}")

    def batches(
        self, kinds: Collection[str], columns: Collection[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield some columns, those that exist, or all of them, of the rows of some kinds."""
        names = [name for name in self.schema.names if columns is None or name in columns]
        if self.place is not None:
            yield from self._folder.batches(names, text(KIND).isin([*kinds]))
            return
        for batch in pa.RecordBatchReader.from_stream(self._table):
            found = batch
            if KIND in self.schema.names:
                found = batch.filter(pc.is_in(batch.column(KIND), pa.array([*kinds])))
            yield found.select(names)

    def check(self, *columns: str) -> None:
        """Check that there are some columns."""
        for name in columns:
            if name not in self.schema.names:
                raise OutputError(f"{self}: no log: it has no column {name!r}")

    def __str__(self) -> str:
        return "the table" if self.place is None else self.place


class Folder:
    """A table in a folder, Delta at its newest version or Parquet, read batch by batch."""

    def __init__(self, path: str) -> None:
        """Open the table."""
        check_folder(path)
        if next(Path(path, "metadata").glob("*.metadata.json"), None):
            # Its files hold rows of older snapshots too.
            raise FramingError(path, None, "a table of Iceberg cannot be read without Spark")
        self._path = path
        with self._reported():
            is_delta = Path(path, "_delta_log").is_dir()
            self._table: Any = _delta(path) if is_delta else ds.dataset(path, partitioning="hive")
            self.schema: pa.Schema = self._table.schema

    def check(self, column: str) -> None:
        """Check that there is a column."""
        if column not in self.schema.names:
            raise FramingError(self._path, None, f"it has no column {column!r}")

    def batches(self, columns: Collection[str], where: Any = None) -> Iterator[pa.RecordBatch]:
        """Yield some columns of the rows that meet a condition on the dataset."""
        # As little is read ahead as can be: rows of a log may be large.
        options = {"batch_size": _BATCH_ROWS, "batch_readahead": 1, "fragment_readahead": 1}
        with self._reported():
            scanner = self._table.scanner(columns=[*columns], filter=where, **options)
            yield from scanner.to_batches()

    @contextmanager
    def _reported(self) -> Generator[None, None, None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            reason = f"it cannot be read as a table ({error})"
            raise FramingError(self._path, None, reason) from error


def text(column: str) -> Any:
    """Return a column of text for a condition.

    Delta-rs rewrites text as views, for which Arrow's comparisons with text fail.
    """
    return pc.field(column).cast(pa.string())


def check_folder(folder: str) -> None:
    """Check that there is a folder."""
    if not Path(folder).is_dir():
        reason = (
            "there is no such folder; a table of a catalog cannot be read by its name without"
            " Spark, give the folder of its files"
        )
        raise FramingError(folder, None, reason)


def file_system(path: str) -> Any:
    """Return what Arrow reads the files in a local folder by.

    Its threads would call a file system of Python's, and one that does so while the interpreter
    ends aborts the process.
    """
    return pyarrow.fs.SubTreeFileSystem(path, pyarrow.fs.LocalFileSystem())


def _delta(path: str) -> Any:
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError as error:
        text = f"reading Delta tables without Spark needs deltalake: {install('delta')}"
        raise ImportError(text) from error
    try:
        table = DeltaTable(path)
        if table.metadata().configuration.get(_MAPPING, "none") != "none":
            # Deltalake finds NULL in columns whose names in the files are others.
            raise FramingError(path, None, "it cannot be read without Spark (column mapping)")
        features = table.protocol().reader_features
        if features and _WIDENING.issuperset(features):
            files = table.file_uris()
            schemas = [ds.dataset(file).schema for file in files]
            widest = pa.unify_schemas(schemas, promote_options="permissive")
            return ds.dataset(files, widest)
        return table.to_pyarrow_dataset(
            filesystem=file_system(path), parquet_read_options=READ_OPTIONS
        )
    except DeltaError as error:
        reason = f"it cannot be read without Spark ({reason_of(error)})"
        raise FramingError(path, None, reason) from error
