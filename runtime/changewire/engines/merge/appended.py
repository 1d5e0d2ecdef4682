"""A log of Delta that a run without Spark appends to: its content, each element once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, Schema, Transaction, write_deltalake

from changewire.engines.layout import RECORD_PLACE
from changewire.engines.log import ADDED, HELD, STATISTICS, STATISTICS_OPTION, check_free, lacking
from changewire.engines.merge import delta


class AppendedLog:
    """A log that rows are appended to, whoever else writes; it is made with the first of them."""

    def __init__(self, path: str, columns: pa.Schema) -> None:
        """Open the log, if it exists; it has some columns."""
        self.path = path
        self._columns = columns
        self._table = delta.opened(path)
        if self._table is None:
            check_free(path)
        else:
            self._complete(self._table)

    @property
    def version(self) -> int:
        """Its version as it was read last; -1 if it does not exist."""
        return -1 if self._table is None else self._table.version()

    def refresh(self) -> None:
        """Read what other writers did."""
        if self._table is None:
            self._table = delta.opened(self.path)
        else:
            with delta.reported(self.path):
                self._table.update_incremental()

    def rows(
        self,
        columns: Sequence[str] | Mapping[str, ds.Expression],
        where: ds.Expression,
        near: ds.Expression | None = None,
        files: str | None = None,
    ) -> Iterator[pa.Table]:
        """Yield rows by batches; the arguments are those of `tables_in` and `dataset_of`."""
        if self._table is not None:
            yield from delta.tables_in(
                delta.dataset_of(self.path, self._table, files), where, columns, near
            )

    def lacking(self, rows: pa.Table) -> pa.Table:
        """Return the elements of decoded rows that it does not have, as `log.lacking` does."""
        # Statistics let whole files be skipped.
        every = pc.scalar(True)  # noqa: FBT003 - a value of Arrow
        return lacking(rows, self.rows(HELD, every, files=delta.between(rows, RECORD_PLACE)))

    def append(self, rows: pa.Table) -> None:
        """Append rows of a log as the version after the one that was read, or not at all."""
        self._append(rows, [])

    def _append(self, rows: pa.Table, transactions: Sequence[Transaction]) -> None:
        done = CommitProperties(app_transactions=[*transactions], max_commit_retries=0)
        self._table = table = self._table or self._created()
        with delta.reported(self.path):
            write_deltalake(table, rows, mode="append", commit_properties=done)

    def _created(self) -> DeltaTable:
        names = [name for name in STATISTICS if name.partition(".")[0] in self._columns.names]
        properties = {STATISTICS_OPTION: ",".join(names)}
        with delta.reported(self.path):
            return DeltaTable.create(
                self.path, self._columns, mode="ignore", configuration=properties
            )

    def _complete(self, table: DeltaTable) -> None:
        """Check its columns, and add those that logs of earlier versions lack."""
        there = {field.name for field in table.schema().fields}
        added = [one for one in self._columns if one.name in ADDED and one.name not in there]
        needed = pa.schema([one for one in self._columns if one not in added])
        advice = dict.fromkeys(needed.names, "; choose another output folder")
        delta.check_columns(self.path, table.schema(), needed, advice)
        if added:
            with delta.reported(self.path):
                table.alter.add_columns(Schema.from_arrow(pa.schema(added)).fields)
