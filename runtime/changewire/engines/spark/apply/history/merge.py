"""What a batch does to a table of versions: decided key by key, and written by one MERGE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.retries import Written, write_until_final
from changewire.engines.spark.apply.decisions import filled
from changewire.engines.spark.apply.failures import has_failed
from changewire.engines.spark.apply.history.columns import version_columns
from changewire.engines.spark.apply.history.keys import (
    END,
    GONE,
    VERSION,
    Truncates,
    input_type,
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
        found: Columns of `keys.output_type`; computed once.
        actions: How many rows of each action there are.
        truncates: Truncates that are not kept yet.
        since: `Delta.version` of both tables before they were read.
    """

    found: DataFrame
    actions: Counter[str]
    truncates: Truncates
    since: Mapping[str, Any]

    @property
    def counts(self) -> Counter[str]:
        """Nothing is counted: tables count what becomes of changes."""
        return Counter()


@dataclass(frozen=True)
class HistoryMerge:
    """What a batch does to a table of versions.

    Attributes:
        effects: What its changes do to rows, as `keys.fitted` returns them.
        truncates: Truncates of the batch.
        tables: The table, and its deletes.
    """

    effects: DataFrame
    truncates: Truncates
    tables: HistoryTables

    def write(self) -> None:
        """Write the versions of the rows that the batch concerns; a retry changes nothing.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: The table has other columns.
        """
        spark = self.effects.sparkSession
        self.tables.make(spark)
        name = str(self.tables.tables.table)
        write_until_final(name, None, decide=self._decided, write=self._written)

    def _decided(self) -> _Decisions:
        spark, tables = self.effects.sparkSession, self.tables
        with conflicts(tables.tables):
            since = tables.versions(spark)
            kept = tables.truncates(spark)
            known = {order for order, _ in kept}
            new = [one for one in self.truncates if one[0] not in known]
            effects = self.effects.where(~has_failed())
            keys = effects.groupBy("key").agg(F.first(NAMED).alias(NAMED))
            # A truncate that is kept may come of a try which ended before it wrote versions.
            held = tables.held(keys, is_all=bool(self.truncates))
            together = filled(effects, input_type(tables.shape)).unionAll(held)
            found = versions_in(together, tables.shape, [*kept, *new])
            found = found.localCheckpoint(eager=False)
            rows = found.groupBy("action").count().collect()
        return _Decisions(found, Counter({row[0]: row[1] for row in rows}), new, since)

    def _written(self, decided: _Decisions) -> Written:
        """Write what was decided, deletes first.

        Raises:
            WriteConflictError: Another writer came first.
        """
        tables, spark = self.tables.tables, self.effects.sparkSession
        wrote = dict.fromkeys(tables.both(), False)
        is_whole = True
        with conflicts(tables):
            if decided.actions[END] or decided.truncates:
                _ends(decided).writeTo(tables.tombstones).append()
                wrote[tables.tombstones] = True
            changed = decided.actions[VERSION] + decided.actions[GONE]
            if tables.table is not None and changed:
                number = self._merge(decided)
                wrote[tables.table] = number is None or number > 0
                is_whole = number is None or number == changed
            left = [
                tables.format.left(spark, table, version, wrote=wrote[table])
                for table, version in decided.since.items()
            ]
        return Written(is_whole, is_final=is_whole and all(one.is_alone for one in left))

    def _merge(self, decided: _Decisions) -> int | None:
        """Write versions; return how many, None if the format does not tell."""
        tables, shape = self.tables.tables, self.tables.shape
        table = str(tables.table)
        changed = decided.found.where(F.col("action").isin(VERSION, GONE))
        columns = version_columns(shape, self.tables.names)
        row = struct_of(columns).alias(_ROW)
        is_gone = (F.col("action") == GONE).alias("is_gone")
        # Maps do not compare; their text does, and is the same for the same map.
        expected = F.to_json("expected").alias("expected")
        source = changed.select(F.struct(row, is_gone, expected).alias(_SOURCE))
        statement = _statement(table, [*columns], shape.keys)
        return tables.format.merge(source, table, statement, decided.since[table])


def _ends(decided: _Decisions) -> DataFrame:
    """Return new deletes and truncates as rows of their table."""
    ends = decided.found.where(F.col("action") == END)
    spark = ends.sparkSession
    deletes = ends.select("key", *(F.col("metadata")[name].alias(name) for name in ENDS.names[1:]))
    truncates = [{**fields_of(order), **note._asdict()} for order, note in decided.truncates]
    return deletes.unionAll(local_frame(spark, truncates, ENDS)) if truncates else deletes


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
