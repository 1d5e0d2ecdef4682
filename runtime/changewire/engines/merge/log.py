"""The log of a run without Spark: its content, and how rows are appended to it once."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError

from changewire.engines.effects import EFFECTS, effects_of_logged
from changewire.engines.layout import RECORD_PLACE
from changewire.engines.log import (
    EFFECTIVE,
    HELD,
    LOG_COLUMNS,
    REFUSED,
    STATISTICS,
    STATISTICS_OPTION,
    lacking,
    log_schema,
)
from changewire.engines.merge import delta
from changewire.engines.retries import retried
from changewire_messages.tables.arrow import ROW_MUTATION

_NO_ROWS: Final = {"OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES"}
"""Operations whose commits bring no rows."""


class LocalLog:
    """A log, and up to which of its versions the tables of a target have it: -1 for none of it.

    Each commit says which version was merged before it, as a transaction of Delta. So a run that
    is killed between the log and its tables is known by the next one, and so are rows that another
    writer appended: changes of the log beyond that version are merged first. Merging rows of this
    run's files again each time would do as well for changes with sequences, but a change without
    one takes that of the row, and would take a newer one each time.
    """

    def __init__(self, path: str, target: str) -> None:
        """Open the log, if it exists; the text of the target names the tables."""
        self.path = path
        self._app = f"changewire-{hashlib.sha256(target.encode()).hexdigest()[:32]}"
        self._table = delta.opened(path)
        self.merged: int = -1
        if self._table is not None:
            delta.check_columns(path, self._table.schema(), log_schema())
            merged = self._table.transaction_version(self._app)
            self.merged = -1 if merged is None else merged
        self._is_told = True

    @property
    def version(self) -> int:
        """Its version as it was read last; -1 if it does not exist."""
        return -1 if self._table is None else self._table.version()

    @property
    def id(self) -> str:
        """What names it, and the tables that belong to it."""
        self._table = self._table or self._created()
        return str(self._table.metadata().id)

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

    def unmerged(self) -> Iterator[pa.Table]:
        """Yield the rows beyond the version that the tables have, by batches.

        If files were written again since, some rows may be among them that the tables have.
        """
        table, old = self._table, set[str]()
        if table is None or self.merged >= table.version():
            return
        if not any(map(_has_rows, table.history(table.version() - self.merged))):
            return
        if self.merged >= 0:
            # A version that was cleaned up by its retention is merged again.
            with suppress(DeltaError, OSError):
                before = DeltaTable(self.path, version=self.merged)
                old = {*map(posixpath.basename, before.file_uris())}
        data = delta.dataset_of(self.path, table)
        # No other file of a table has the name of one.
        parts = [one for one in data.get_fragments() if posixpath.basename(one.path) not in old]
        new = ds.FileSystemDataset(parts, data.schema, data.format, data.filesystem)
        yield from delta.tables_in(new, ds.field("kind") != REFUSED, LOG_COLUMNS)

    def lacking(self, rows: pa.Table) -> pa.Table:
        """Return the elements of decoded rows that it does not have, as `log.lacking` does."""
        # Statistics let whole files be skipped.
        every = pc.scalar(True)  # noqa: FBT003 - a value of Arrow
        return lacking(rows, self.rows(HELD, every, files=delta.between(rows, RECORD_PLACE)))

    def append(self, rows: pa.Table) -> None:
        """Append rows of a log as the version after the one that was read, or not at all."""
        done = CommitProperties(
            app_transactions=[Transaction(self._app, self.merged)], max_commit_retries=0
        )
        self._table = table = self._table or self._created()
        with delta.reported(self.path):
            write_deltalake(table, rows, mode="append", commit_properties=done)
        self._is_told = True

    def append_refused(self, rows: pa.Table) -> None:
        """Append rows that no table takes, whoever else writes."""

        def append() -> None:
            self.refresh()
            self.append(rows)

        retried(self.path, append)
        if self.version == self.merged + 1:
            self.merged_to(self.version)

    def merged_to(self, version: int, *, has_rows: bool = True) -> None:
        """Remember that the tables have it up to a version; a later commit tells it."""
        self.merged = version
        self._is_told = self._is_told and not has_rows

    def finish(self) -> None:
        """Tell up to which version the tables have it, if no commit says so."""
        if not self._is_told:
            self.append_refused(log_schema().empty_table())
            self._is_told = True

    def _created(self) -> DeltaTable:
        properties = {STATISTICS_OPTION: ",".join(STATISTICS)}
        with delta.reported(self.path):
            return DeltaTable.create(
                self.path, log_schema(), mode="ignore", configuration=properties
            )


def with_effects(rows: pa.Table) -> pa.Table:
    """Return rows of a log with the column `EFFECTS`, as decoded rows have it."""
    changes = zip(rows["kind"].to_pylist(), rows.select([*EFFECTIVE]).to_pylist(), strict=True)
    found = [
        effects_of_logged(row) if kind == "change" and row["key"] is not None else None
        for kind, row in changes
    ]
    return rows.append_column(EFFECTS, pa.array(found, pa.list_(ROW_MUTATION)))


def _has_rows(commit: Mapping[str, Any]) -> bool:
    """Whether a commit may have brought rows."""
    is_empty = commit.get("operationMetrics", {}).get("num_added_files") == 0
    return not is_empty and commit["operation"] not in _NO_ROWS
