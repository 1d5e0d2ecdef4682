"""Folders of tables, Delta or Parquet, as record batches: no more than a few are held."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs

from changewire.engines.options import LOG
from changewire.extras import install
from changewire.framing import FramingError

_BATCH_ROWS: Final = 1024
_MAPPING: Final = "delta.columnMapping.mode"
_WIDENING: Final = frozenset({"typeWidening", "typeWidening-preview"})
"""Features of Delta tables whose files are what they seem: Arrow widens types as well."""


def log_of(folder: str) -> str:
    """Return the log in the output folder of a run, or the folder itself.

    Raises:
        FramingError: There is no such folder.
    """
    _check(folder)
    log = Path(folder, LOG)
    return str(log) if log.is_dir() else folder


class Folder:
    """A table in a folder.

    Attributes:
        schema: Its columns.
        names: Their names.
    """

    def __init__(self, path: str) -> None:
        """Open the table, at its newest version.

        Raises:
            FramingError: It cannot be read.
            ImportError: It is a Delta table, and the extra ``delta`` is not installed.
        """
        _check(path)
        if next(Path(path, "metadata").glob("*.metadata.json"), None):
            # Its files hold rows of older snapshots too.
            raise FramingError(path, None, "a table of Iceberg cannot be read without Spark")
        self._path = path
        with self._reported():
            is_delta = Path(path, "_delta_log").is_dir()
            self._table = _delta(path) if is_delta else _parquet(path)
            self.schema: pa.Schema = self._table.schema
            self.names: list[str] = self.schema.names

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column.

        Raises:
            FramingError: There is no such column.
        """
        if column not in self.names:
            raise FramingError(self._path, None, f"it has no column {column!r}")
        return self.schema.field(column).type

    def batches(self, columns: Collection[str], where: Any = None) -> Iterator[pa.RecordBatch]:
        """Yield some columns of the rows that meet a condition.

        Args:
            columns: Names of columns; those that are not there are left out.
            where: An expression of `pyarrow.compute`.

        Raises:
            FramingError: The table cannot be read.
        """
        names = [name for name in self.names if name in columns]
        # As little is read ahead as can be: rows of a log may be large.
        options = {"batch_size": _BATCH_ROWS, "batch_readahead": 1, "fragment_readahead": 1}
        with self._reported():
            yield from self._table.scanner(columns=names, filter=where, **options).to_batches()

    @contextmanager
    def _reported(self) -> Generator[None, None, None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            reason = f"it cannot be read as a table ({error})"
            raise FramingError(self._path, None, reason) from error


def _check(folder: str) -> None:
    if not Path(folder).is_dir():
        reason = (
            "there is no such folder; a table of a catalog cannot be read by its name without"
            " Spark, give the folder of its files"
        )
        raise FramingError(folder, None, reason)


def _parquet(path: str) -> Any:
    return ds.dataset(path, format="parquet", partitioning="hive")


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
            return _files(table.file_uris())
        # Arrow reads the files by itself: its threads would call a file system of Python's, and one
        # that does so while the interpreter ends aborts the process.
        files = pyarrow.fs.SubTreeFileSystem(path, pyarrow.fs.LocalFileSystem())
        return table.to_pyarrow_dataset(filesystem=files)
    except DeltaError as error:
        reason = f"it cannot be read without Spark ({error})"
        raise FramingError(path, None, reason) from error


def _files(files: list[str]) -> Any:
    """Return the data files of a Delta table, under the widest types that they have."""
    schemas = [ds.dataset(file, format="parquet").schema for file in files]
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    return ds.dataset(files, schema, format="parquet")
