"""A log, wherever it is: a folder, or a table of any library that speaks Arrow."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.arrow.messages import ArrowStream
from changewire.engines.changelog.folders import Folder, log_of
from changewire.engines.errors import OutputError

ChangeLog: TypeAlias = str | os.PathLike[str] | ArrowStream
"""A log: the output folder of a run, the folder of a log in Parquet or Delta, or its rows as a
table of any library that speaks Arrow's PyCapsule interface. A table of changes alone, such as
`changewire.arrow.decode(...).changes`, needs no column ``kind``."""

KIND: Final = "kind"


class LogRows:
    """The rows of a log, which are read as often as they are asked for.

    Attributes:
        place: Its folder; None for a table.
        schema: Its columns.
        has_kinds: Whether it has the column ``kind``. Without it all rows are changes.
    """

    def __init__(self, log: Any) -> None:
        """Open a log, which is a `ChangeLog`.

        Raises:
            TypeError: It is neither a folder nor a table.
            FramingError: The folder cannot be read, or is not a log.
            ImportError: It is a Delta table, and the extra ``delta`` is not installed.
        """
        self.place: str | None = None
        if isinstance(log, (str, os.PathLike)):
            self.place = log_of(os.fspath(log))
            self._folder = Folder(self.place)
            self._folder.type_of(KIND)
            self.schema = self._folder.schema
        elif isinstance(log, ArrowStream):
            # A reader is read once only.
            reader = pa.RecordBatchReader.from_stream(log)
            is_once = isinstance(log, pa.RecordBatchReader)
            self._table: Any = reader.read_all() if is_once else log
            self.schema = reader.schema
        else:
            raise TypeError(f"expected a folder or a table, not {type(log).__name__}")
        self.names: list[str] = self.schema.names
        self.has_kinds = KIND in self.names

    def batches(
        self, kinds: Collection[str], columns: Collection[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows of some kinds; all of them if the log has no kinds.

        Args:
            kinds: The kinds.
            columns: Names of columns; those that are not there are left out. None for all.

        Raises:
            FramingError: The folder cannot be read.
        """
        wanted = self.names if columns is None else [n for n in self.names if n in columns]
        if self.place is not None:
            yield from self._folder.batches(wanted, pc.field(KIND).isin([*kinds]))
            return
        for batch in pa.RecordBatchReader.from_stream(self._table):
            found = batch
            if self.has_kinds:
                found = batch.filter(pc.is_in(batch.column(KIND), pa.array([*kinds])))
            yield found.select(wanted)

    def check(self, *columns: str) -> None:
        """Check that there are some columns.

        Raises:
            OutputError: One is missing.
        """
        for name in columns:
            if name not in self.names:
                raise OutputError(f"{self}: no log: it has no column {name!r}")

    def __str__(self) -> str:
        return "the table" if self.place is None else self.place
