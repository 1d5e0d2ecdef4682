"""The log of a run without Spark: its content, and how rows are appended to it once."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, Schema, Transaction, write_deltalake
from deltalake.exceptions import DeltaError

from changewire.engines.effects import with_effects
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE, CONTROL, RECORD_PLACE
from changewire.engines.log import (
    ADDED,
    ATTEMPT,
    ELEMENT_PLACE,
    HELD,
    LOG_COLUMNS,
    REFUSED,
    STATISTICS,
    STATISTICS_OPTION,
    TARGET,
    columns_of_log,
    lacking,
    log_schema,
    placed,
)
from changewire.engines.merge import delta
from changewire.engines.merge.options import LocalOptions
from changewire.engines.retries import retried
from changewire.tables.names import absolute

_ATTEMPT: Final = (*ELEMENT_PLACE, ATTEMPT)

_NO_ROWS: Final = {"OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES"}
"""Operations whose commits bring no rows."""

_SAME: Final = {"DELETE", "UPDATE", "ADD COLUMN"}
"""Operations whose commits bring no rows of other elements."""


class LocalLog:
    """A log, and up to which of its versions the tables of a target have it: -1 for none of it.

    Each commit says which version was merged before it, as a transaction of Delta. So a run that
    is killed between the log and its tables is known by the next one, and so are rows that another
    writer appended: changes of the log beyond that version are merged first. Merging rows of this
    run's files again each time would do as well for changes with sequences, but a change without
    one takes that of the row, and would take a newer one each time.
    """

    def __init__(self, path: str, target: str | None, columns: pa.Schema | None = None) -> None:
        """Open the log, if it exists; the text of the target names the tables, None without any.

        The columns are those of its rows, if they are not those of changes.
        """
        self.path = path
        self.refused: set[Any] = set()
        self.others: int = 0
        """How often another writer was found to have changed it."""
        self._target, self._app = target or "", None if target is None else _app_of(target)
        self._columns = log_schema() if columns is None else columns
        self._table = delta.opened(path)
        self.merged: int = -1
        if self._table is not None:
            self._complete(self._table)
            delta.check_columns(path, self._table.schema(), self._columns)
            merged = None if self._app is None else self._table.transaction_version(self._app)
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
            yield from delta.tables_in(
                delta.dataset_of(self.path, self._table, files), where, columns, near
            )

    def selected(
        self,
        columns: Sequence[str],
        kinds: Collection[str],
        where: str = "true",
        *,
        is_merged: bool = False,
    ) -> Iterator[pa.Table]:
        """Yield some columns of the rows of some kinds that meet a condition in SQL, by batches.

        They are those of the newest version, or of the one that the tables have; if they have none,
        Spark may have made them, and that is the newest version too. Refusals of other targets are
        left out.
        """
        table = self._merged_table() if is_merged else self._table
        if table is not None:
            named = ", ".join(map(delta.literal, kinds))
            condition = f"kind IN ({named}) AND ({where})"
            if REFUSED in kinds:
                condition += f" AND {of_target(self._target)}"
            yield from delta.selected(self.path, table, columns_of_log(columns), condition)

    def _merged_table(self) -> DeltaTable | None:
        """Return the log at the version that the tables have; later changes of its files count.

        Rows may have been erased, and files written again, since.
        """
        table = self._table
        if table is None or not 0 <= self.merged < table.version():
            return table
        commits = table.history(table.version() - self.merged)
        if commits and not any(_has_rows(one) and one["operation"] not in _SAME for one in commits):
            return table
        # A version that was cleaned up by its retention is merged again.
        with suppress(DeltaError, OSError):
            return DeltaTable(self.path, version=self.merged)
        return table

    def unmerged(self) -> Iterator[pa.Table]:
        """Yield changes and control events beyond the version that the tables have, by batches.

        If files were written again since, some rows may be among them that the tables have.
        """
        table = self._table
        if table is None or self.merged >= table.version():
            return
        # Of a folder with some characters in its name delta-rs gives no history.
        commits = table.history(table.version() - self.merged)
        if commits and not any(map(_has_rows, commits)):
            return
        where = ds.field("kind").isin([CHANGE, CONTROL])
        found = delta.tables_in(self._part(table, is_merged=False), where, LOG_COLUMNS)
        yield from map(with_effects, found)

    def merged_rows(
        self, columns: Sequence[str] | Mapping[str, ds.Expression], where: ds.Expression
    ) -> Iterator[pa.Table]:
        """Yield the rows that are not `unmerged`, by batches."""
        if self._table is not None and self.merged >= 0:
            data = self._part(self._table, is_merged=True)
            yield from delta.tables_in(data, where, columns)

    def _part(self, table: DeltaTable, *, is_merged: bool) -> Any:
        """Return the files of the version that the tables have, or all others, oldest first."""
        old = set[str]()
        if self.merged >= 0:
            # A version that was cleaned up by its retention is merged again.
            with suppress(DeltaError, OSError):
                before = DeltaTable(self.path, version=self.merged)
                old = {*map(posixpath.basename, before.file_uris())}
        data, written = delta.dataset_of(self.path, table), _written(table)
        # No other file of a table has the name of one.
        named = ((posixpath.basename(one.path), one) for one in data.get_fragments())
        found = sorted((written[n], n, one) for n, one in named if (n in old) is is_merged)
        parts = [one for *_, one in found]
        return ds.FileSystemDataset(parts, data.schema, data.format, data.filesystem)

    def has_keys(self) -> bool:
        """Whether it has a change with a key."""
        where = ds.field("kind").isin([CHANGE]) & ds.field("key").is_valid()
        return next(self.rows(["kind"], where), None) is not None

    def know_refused(self) -> None:
        """Read which changes the target refused: to later ones they are as if they never came."""
        is_own = ds.field(TARGET).is_null() | (ds.field(TARGET) == self._target)
        for part in self.rows(_ATTEMPT, (ds.field("kind") == REFUSED) & is_own):
            self._refuse(part)

    def add_refused(self, rows: pa.Table, numbers: Iterable[int]) -> None:
        """Take note of refused changes, by their numbers among rows of the log."""
        found = rows.select([*_ATTEMPT]).take(pa.array(sorted(numbers), pa.int64()))
        self._refuse(found)

    def _refuse(self, rows: pa.Table) -> None:
        # One without a position cannot be told from others.
        self.refused.update(attempts_of(placed(rows)))

    def accepted(self, rows: pa.Table) -> pa.Table:
        """Return changes without those that are known to be refused."""
        if not self.refused:
            return rows
        kept = [one not in self.refused for one in attempts_of(rows)]
        return rows.filter(pa.array(kept, pa.bool_()))

    def lacking(self, rows: pa.Table) -> pa.Table:
        """Return the elements of decoded rows that it does not have, as `log.lacking` does."""
        # Statistics let whole files be skipped.
        every = pc.scalar(True)  # noqa: FBT003 - a value of Arrow
        return lacking(rows, self.rows(HELD, every, files=delta.between(rows, RECORD_PLACE)))

    def number_of(self, app: str) -> int | None:
        """Return the number that the newest commit gave a transaction; None without one."""
        return None if self._table is None else self._table.transaction_version(app)

    def append(self, rows: pa.Table, numbers: Mapping[str, int] | None = None) -> None:
        """Append rows of a log as the version after the one that was read, or not at all.

        The commit gives transactions their numbers, by their names.
        """
        found = {**(numbers or {}), **({} if self._app is None else {self._app: self.merged})}
        done = CommitProperties(
            app_transactions=[Transaction(app, number) for app, number in found.items()],
            max_commit_retries=0,
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

    def compact(self) -> None:
        """Write small files together; tables that have the whole log have the new files too."""
        self._table = table = self._table or self._created()
        has_all = self.merged == table.version()
        delta.compact(self.path, table)
        if has_all:
            self.merged_to(table.version())

    def finish(self) -> None:
        """Tell up to which version the tables have it, if no commit says so."""
        if not self._is_told:
            self.append_refused(log_schema().empty_table())
            self._is_told = True

    def _complete(self, table: DeltaTable) -> None:
        """Add the columns that logs of earlier versions lack."""
        there = {field.name for field in table.schema().fields}
        lacking = [one for one in Schema.from_arrow(self._columns).fields if one.name in ADDED]
        if lacking := [one for one in lacking if one.name not in there]:
            with delta.reported(self.path):
                table.alter.add_columns(lacking)

    def _created(self) -> DeltaTable:
        names = (one for one in STATISTICS if one.partition(".")[0] in self._columns.names)
        properties = {STATISTICS_OPTION: ",".join(names)}
        with delta.reported(self.path):
            return DeltaTable.create(
                self.path, self._columns, mode="ignore", configuration=properties
            )


def log_there(options: LocalOptions) -> LocalLog:
    """Return a log that exists; an `OutputError` says that it does not."""
    found = LocalLog(options.log, options.routing.template.text)
    if found.version < 0:
        raise OutputError(f"{options.log}: the log does not exist")
    return found


def has_tables(log: str, target: str) -> bool:
    """Whether runs without Spark made the tables of a log at a target."""
    try:
        table = delta.opened(log)
    except OutputError:
        return False
    app = _app_of(absolute(target, is_template=True))
    return table is not None and table.transaction_version(app) is not None


def _app_of(target: str) -> str:
    """Return what names the tables of a target in the transactions of its log."""
    return f"changewire-{hashlib.sha256(target.encode()).hexdigest()[:32]}"


def of_target(target: str) -> str:
    """Return the condition in SQL that a row of a log is not a refusal of another target."""
    return f"({TARGET} IS NULL OR {TARGET} = {delta.literal(target)})"


def attempts_of(rows: pa.Table) -> Iterator[Any]:
    """Yield what names each attempt of an element."""
    return zip(*(rows[name].to_pylist() for name in _ATTEMPT), strict=True)


def _written(table: DeltaTable) -> dict[str, tuple[int, int]]:
    """Return when the files of a table were written, in milliseconds, by their names.

    Of one time the last file is the first one that was written, as delta-rs gives them.
    """
    files = pa.table(table.get_add_actions(flatten=True))
    names = map(posixpath.basename, files["path"].to_pylist())
    times = files["modification_time"].cast(pa.int64()).to_pylist()
    each = enumerate(zip(names, times, strict=True))
    return {name: (time, -index) for index, (name, time) in each}


def _has_rows(commit: Mapping[str, Any]) -> bool:
    """Whether a commit may have brought rows."""
    is_empty = commit.get("operationMetrics", {}).get("num_added_files") == 0
    return not is_empty and commit["operation"] not in _NO_ROWS
