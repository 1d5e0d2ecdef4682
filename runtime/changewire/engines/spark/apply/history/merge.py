"""What a batch does to a table of versions: decided key by key, and written by one MERGE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.retries import Written, write_until_final
from changewire.engines.spark.apply.decisions import filled
from changewire.engines.spark.apply.failures import has_failed
from changewire.engines.spark.apply.history.columns import version_columns
from changewire.engines.spark.apply.history.few import FewEffects
from changewire.engines.spark.apply.history.keys import (
    EFFECT,
    END,
    GONE,
    VERSION,
    Rows,
    Truncates,
    input_type,
    output_type,
    versions_in,
)
from changewire.engines.spark.apply.history.tables import ENDS, HistoryTables
from changewire.engines.spark.apply.making import local_frame
from changewire.engines.spark.apply.merge import conflicts
from changewire.engines.spark.apply.shape import NAMED
from changewire.engines.spark.apply.tables import struct_of
from changewire.engines.spark.apply.writing import as_is
from changewire.engines.spark.parts import quoted
from changewire.tables.metadata import COLUMN, fields_of
from changewire_messages.tables.spark import ORDER_FIELDS

_SOURCE: Final = "_changewire_source"
"""The only column of what is merged, so that every other name is one of the table's."""

_ROW: Final = "row"


@dataclass(frozen=True)
class _Decisions:
    """What versions become.

    Attributes:
        found: Columns of `keys.output_type`; in Spark computed once.
        actions: How many rows of each action there are.
        counts: How many versions began, ended, and so on, as `VersionWrite.effect`.
        truncates: Truncates that are not kept yet.
        since: `Delta.version` of both tables before they were read.
    """

    found: DataFrame | Rows
    actions: Counter[str]
    counts: Counter[str]
    truncates: Truncates
    since: Mapping[str, Any]


@dataclass(frozen=True)
class HistoryMerge:
    """What a batch does to a table of versions.

    Attributes:
        spark: The session.
        effects: What its changes do to rows, as `keys.fitted` returns them.
        truncates: Truncates of the batch.
        tables: The table, which is there, and its deletes.
        is_complete: Whether the table has the versions of all changes then.
    """

    spark: SparkSession
    effects: DataFrame | FewEffects
    truncates: Truncates
    tables: HistoryTables
    is_complete: bool = True

    def write(self) -> Counter[str]:
        """Write the versions of the rows that the batch concerns; a retry changes nothing.

        Returns:
            How many versions began, ended, and so on, as `VersionWrite.effect`.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: The table has other columns.
        """
        name = str(self.tables.tables.table)
        return write_until_final(name, None, decide=self._decided, write=self._written)

    def _decided(self) -> _Decisions:
        with conflicts(self.tables.tables):
            since = self.tables.versions(self.spark)
            if isinstance(self.effects, DataFrame):
                return self._in_tasks(self.effects, since)
            # A truncate concerns all keys.
            made = None if self.truncates else self.effects.versions(self.spark, self.tables)
            if made is None:
                return self._in_tasks(self.effects.frame(self.spark), since)
        actions = Counter(row["action"] for row in made)
        counts = Counter(row[EFFECT] for row in made if row.get(EFFECT))
        return _Decisions(made, actions, counts, (), since)

    def _in_tasks(self, every: DataFrame, since: Mapping[str, Any]) -> _Decisions:
        tables = self.tables
        kept = tables.truncates(self.spark)
        known = {order for order, _ in kept}
        new = [one for one in self.truncates if one[0] not in known]
        effects = every.where(~has_failed())
        keys = effects.groupBy("key").agg(F.first(NAMED).alias(NAMED))
        # A truncate that is kept may come of a try which ended before it wrote versions.
        held = tables.held(keys, is_all=bool(self.truncates))
        together = filled(effects, input_type(tables.shape)).unionAll(held)
        found = versions_in(together, tables.shape, [*kept, *new])
        found = found.localCheckpoint(eager=False)
        actions: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        for action, effect, number in found.groupBy("action", EFFECT).count().collect():
            actions[action] += number
            counts[effect] += number if effect else 0
        return _Decisions(found, actions, +counts, new, since)

    def _written(self, decided: _Decisions) -> Written:
        """Write what was decided, deletes first.

        Raises:
            WriteConflictError: Another writer came first.
        """
        tables, spark = self.tables.tables, self.spark
        wrote = dict.fromkeys(tables.both(), False)
        is_whole = True
        with conflicts(tables):
            if decided.actions[END] or decided.truncates:
                self._ends(decided).writeTo(tables.tombstones).append()
                wrote[tables.tombstones] = True
            changed = decided.actions[VERSION] + decided.actions[GONE]
            if tables.table is not None and changed:
                number = self._merge(decided)
                wrote[tables.table] = number is None or number > 0
                is_whole = number is None or number == changed
            left = {
                table: tables.format.left(spark, table, version, wrote=wrote[table])
                for table, version in decided.since.items()
            }
        is_final = is_whole and all(one.is_alone for one in left.values())
        if is_final and self.is_complete:
            self.tables.keep({table: one.version for table, one in left.items()})
        return Written(is_whole, is_final)

    def _merge(self, decided: _Decisions) -> int | None:
        """Write versions; return how many, None if the format does not tell."""
        tables, shape = self.tables.tables, self.tables.shape
        table = str(tables.table)
        changed = self._rows(decided, VERSION, GONE)
        columns = version_columns(shape, self.tables.names)
        row = struct_of(columns).alias(_ROW)
        is_gone = (F.col("action") == GONE).alias("is_gone")
        # Maps do not compare; their text does, and is the same for the same map.
        expected = F.to_json("expected").alias("expected")
        source = changed.select(F.struct(row, is_gone, expected).alias(_SOURCE))
        statement = _statement(table, [*columns], shape.keys)
        return tables.format.merge(source, table, statement, decided.since[table])

    def _ends(self, decided: _Decisions) -> DataFrame:
        """Return new deletes and truncates as rows of their table."""
        ends = self._rows(decided, END)
        names = ENDS.names[1:]
        deletes = ends.select("key", *(F.col("metadata")[name].alias(name) for name in names))
        truncates = [{**fields_of(order), **note._asdict()} for order, note in decided.truncates]
        return deletes.unionAll(local_frame(self.spark, truncates, ENDS)) if truncates else deletes

    def _rows(self, decided: _Decisions, *actions: str) -> DataFrame:
        """Return the rows of some actions."""
        if isinstance(decided.found, DataFrame):
            return decided.found.where(F.col("action").isin(*actions))
        rows = [row for row in decided.found if row["action"] in actions]
        return local_frame(self.spark, rows, output_type(self.tables.shape))


def _statement(table: str, columns: list[str], keys: tuple[str, ...]) -> str:
    """Return the MERGE; every name but that of the source's only column is one of the table's."""
    names = [quoted(name) for name in columns]
    same = [f"{quoted(name)} <=> {_SOURCE}.{_ROW}.{quoted(name)}" for name in keys]
    same += [
        f"{COLUMN}.`{field.name}` <=> {_SOURCE}.{_ROW}.{COLUMN}.`{field.name}`"
        for field in ORDER_FIELDS.fields
    ]
    is_unchanged = f"to_json({COLUMN}) <=> {_SOURCE}.expected"
    values = [f"{_SOURCE}.{_ROW}.{name}" for name in names]
    pairs = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
    clauses = (
        f"ON {' AND '.join(same)}",
        f"WHEN MATCHED AND {is_unchanged} AND {_SOURCE}.is_gone THEN DELETE",
        f"WHEN MATCHED AND {is_unchanged} THEN UPDATE SET {pairs}",
        f"WHEN NOT MATCHED AND NOT {_SOURCE}.is_gone AND {_SOURCE}.expected IS NULL",
        f"THEN INSERT ({', '.join(names)}) VALUES ({', '.join(values)})",  # noqa: S608 - quoted
    )
    return f"MERGE INTO {as_is(table)} USING {{source}} {as_is(' '.join(clauses))}"
