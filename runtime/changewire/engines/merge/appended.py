"""A log of Delta that a run without Spark appends to: its content, each element once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, Schema, Transaction, write_deltalake

from changewire.engines.layout import CHANGE, RECORD_PLACE
from changewire.engines.log import ADDED, HELD, STATISTICS, STATISTICS_OPTION, check_free, lacking
from changewire.engines.merge import delta
from changewire.engines.retries import WriteConflictError

_MARK: Final = "changewire.append"
"""Property of a commit by which the call that made it knows it again."""


class AppendedLog:
    """A log that rows are appended to, whoever else writes; it is made with the first of them.

    Attributes:
        path: Its path.
        others: How often another writer was found to have changed it.
    """

    def __init__(self, path: str, columns: pa.Schema) -> None:
        """Open the log, if it exists; it has some columns."""
        self.path = path
        self.others: int = 0
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

    @property
    def id(self) -> str:
        """What names it, and the tables that belong to it; it is created if it does not exist."""
        self._table = self._table or self._created()
        return str(self._table.metadata().id)

    def number_of(self, app: str) -> int | None:
        """Return the number that the newest commit gave a transaction; None without one."""
        return None if self._table is None else self._table.transaction_version(app)

    def refresh(self) -> None:
        """Read what other writers did."""
        if self._table is None:
            self._table = delta.opened(self.path)
        else:
            version = self.version
            with delta.reported(self.path):
                self._table.update_incremental()
            self.others += self.version != version

    def rows(
        self,
        columns: Sequence[str] | Mapping[str, ds.Expression],
        where: ds.Expression,
        near: ds.Expression | None = None,
        files: str | None = None,
    ) -> Iterator[pa.Table]:
        """Yield rows by batches; the arguments are those of `tables_in` and `dataset_of`."""
        if self._table is not None:
            data = delta.dataset_of(self.path, self._table, files)
            yield from delta.tables_in(self.path, data, where, columns, near)

    def has_keys(self) -> bool:
        """Whether it has a change with a key."""
        where = ds.field("kind").isin([CHANGE]) & ds.field("key").is_valid()
        return next(self.rows(["kind"], where), None) is not None

    def lacking(self, rows: pa.Table) -> pa.Table:
        """Return the elements of decoded rows that it does not have, as `log.lacking` does."""
        # Statistics let whole files be skipped.
        every = pc.scalar(True)  # noqa: FBT003 - a value of Arrow
        names = [name for name in HELD if name in self._columns.names]
        return lacking(rows, self.rows(names, every, files=delta.between(rows, RECORD_PLACE)))

    def append(self, rows: pa.Table, numbers: Mapping[str, int] | None = None) -> None:
        """Append rows of a log as the version after the one that was read, or not at all.

        The commit gives transactions their numbers, by their names.
        """
        given = [Transaction(app, number) for app, number in (numbers or {}).items()]
        mark = {_MARK: uuid4().hex}
        done = CommitProperties(mark, max_commit_retries=0, app_transactions=given)
        self._table = table = self._table or self._created()
        try:
            with delta.reported(self.path):
                write_deltalake(table, rows, mode="append", commit_properties=done)
        except WriteConflictError:
            # A store may have committed it although its answer was lost; delta-rs asks again then.
            if not self._has_commit(mark):
                raise

    def _has_commit(self, mark: Mapping[str, str]) -> bool:
        """Whether a commit after the version that was read has a mark."""
        before = self.version
        self.refresh()
        if self._table is None or self.version <= before:
            return False
        with delta.reported(self.path):
            after = self._table.history(self.version - before)
        return any(mark.items() <= one.items() for one in after)

    def begin(self) -> None:
        """Create it without rows, if it does not exist."""
        if self.version < 0:
            self.refresh()
        if self.version < 0:
            self.append(self._columns.empty_table())

    def compact(self) -> None:
        """Write small files together."""
        self._table = table = self._table or self._created()
        delta.compact(self.path, table)

    def _created(self) -> DeltaTable:
        names = [name for name in STATISTICS if name.partition(".")[0] in self._columns.names]
        properties = {STATISTICS_OPTION: ",".join(names)}
        with delta.reported(self.path):
            return DeltaTable.create(
                self.path,
                self._columns,
                mode="ignore",
                configuration=properties,
                storage_options=delta.STORE_OPTIONS,
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
