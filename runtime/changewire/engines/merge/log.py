"""The log of a run without Spark, and which version of it its tables have."""

from __future__ import annotations

import hashlib
import logging
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from changewire.engines.effects import with_effects
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.log import (
    ATTEMPT,
    CLOSING,
    ELEMENT_PLACE,
    MERGE_COLUMNS,
    REFUSED,
    TARGET,
    columns_of_log,
    log_schema,
    placed,
)
from changewire.engines.merge import delta
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.merge.options import LocalOptions
from changewire.engines.retries import retried
from changewire.tables.names import absolute

_ATTEMPT: Final = (*ELEMENT_PLACE, ATTEMPT)

_NO_ROWS: Final = {"OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES"}
"""Operations whose commits bring no rows."""

_SAME: Final = {"DELETE", "UPDATE", "ADD COLUMN"}
"""Operations whose commits bring no rows of other elements."""

_UNMERGED: Final = (
    "%s: its newest changes are not merged yet; until `apply_log` (`changewire apply`) merges "
    "them, `verify` takes rows that `rebuild` makes of them for faults"
)


class LocalLog(AppendedLog):
    """A log, and up to which of its versions the tables of a target have it: -1 for none of it.

    Each commit says which version was merged before it, as a transaction of Delta. So a run that
    is killed between the log and its tables is known by the next one, and so are rows that another
    writer appended: changes of the log beyond that version are merged first. Merging rows of this
    run's files again each time would do as well for changes with sequences, but a change without
    one takes that of the row, and would take a newer one each time.
    """

    def __init__(self, path: str, target: str) -> None:
        """Open the log, if it exists; the text of the target names the tables."""
        super().__init__(path, log_schema())
        self.refused: set[Any] = set()
        self._target, self._app = target, _app_of(target)
        self.merged: int = self._told
        self._is_told = True

    @property
    def _told(self) -> int:
        """The version that the tables have by the log, where other runs tell it too."""
        number = self.number_of(self._app)
        return -1 if number is None else number

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
        commits = self._unmerged_commits() if self.merged >= 0 else None
        if commits is None:
            return table
        before = min((one["version"] for one in commits if _is_new(one)), default=None)
        if commits and before is None:
            return table
        # Files of the version itself may have been written together since, and removed. A version
        # that was cleaned up by its retention is merged again.
        with suppress(DeltaError, OSError):
            version = self.merged if before is None else before - 1
            return DeltaTable(self.path, version, delta.STORE_OPTIONS)
        return table

    def unmerged(self, columns: Sequence[str] = MERGE_COLUMNS) -> Iterator[pa.Table]:
        """Yield changes and control events beyond the version that the tables have, by batches.

        Their order is the same each time.

        If files were written again since, some rows may be among them that the tables have.
        """
        table, commits = self._table, self._unmerged_commits()
        if table is None or commits is None or (commits and not any(map(_has_rows, commits))):
            return
        where = ds.field("kind").isin([CHANGE, CONTROL])
        found = delta.tables_in(self.path, self._part(table, is_merged=False), where, columns)
        yield from map(with_effects, found)

    def _unmerged_commits(self) -> list[dict[str, Any]] | None:
        """Return the commits beyond the version that the tables have; None if the tables have all.

        Of a folder with some characters in its name delta-rs gives no history: an empty list.
        """
        table = self._table
        if table is None or self.merged >= table.version():
            return None
        return table.history(table.version() - self.merged)

    def warn_unmerged(self, function: str) -> None:
        """Log a warning of a function if there are changes that no run has merged yet."""
        commits = self._unmerged_commits() if self.merged >= 0 else None
        if commits is None or (commits and not any(map(_is_new, commits))):
            return
        if any(map(len, self.unmerged())):
            logging.getLogger(f"changewire.{function}").warning(_UNMERGED, self.path)

    def merged_rows(
        self, columns: Sequence[str] | Mapping[str, ds.Expression], where: ds.Expression
    ) -> Iterator[pa.Table]:
        """Yield the rows that are not `unmerged`, by batches."""
        if self._table is not None and self.merged >= 0:
            data = self._part(self._table, is_merged=True)
            yield from delta.tables_in(self.path, data, where, columns)

    def _part(self, table: DeltaTable, *, is_merged: bool) -> Any:
        """Return the files of the version that the tables have, or all others, oldest first."""
        old = set[str]()
        if self.merged >= 0:
            # A version that was cleaned up by its retention is merged again.
            with suppress(DeltaError, OSError):
                before = DeltaTable(self.path, self.merged, delta.STORE_OPTIONS)
                old = {*map(posixpath.basename, before.file_uris())}
        data, written = delta.dataset_of(self.path, table), _written(table)
        # No other file of a table has the name of one.
        named = ((posixpath.basename(one.path), one) for one in data.get_fragments())
        found = sorted((written[n], n, one) for n, one in named if (n in old) is is_merged)
        parts = [one for *_, one in found]
        return ds.FileSystemDataset(parts, data.schema, data.format, data.filesystem)

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

    def append(self, rows: pa.Table, numbers: Mapping[str, int] | None = None) -> None:
        """Append rows, as any log does, and tell up to which version the tables have it."""
        super().append(rows, {**(numbers or {}), self._app: max(self.merged, self._told)})
        self._is_told = True

    def append_refused(self, rows: pa.Table) -> None:
        """Append refused changes, whoever else writes."""

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
        before = self.version
        super().compact()
        if self.merged == before < self.version:
            self.merged_to(self.version)

    def finish(self) -> None:
        """Tell up to which version the tables have it, if no commit says so."""
        if self._is_told:
            return
        self.refresh()
        if self._told < self.merged:
            self.append_refused(log_schema().empty_table())
        self._is_told = True


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
    """Whether a commit may have brought rows that tables need."""
    is_empty = commit.get("operationMetrics", {}).get("num_added_files") == 0
    is_closing = CLOSING.items() <= commit.items()
    return not (is_empty or is_closing) and commit["operation"] not in _NO_ROWS


def _is_new(commit: Mapping[str, Any]) -> bool:
    """Whether a commit may have brought rows of other elements."""
    return _has_rows(commit) and commit["operation"] not in _SAME
