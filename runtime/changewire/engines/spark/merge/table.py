"""A table of a query: made, changed, and merged into by one statement a batch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.adopted import check_has_key
from changewire.engines.applied import (
    COLUMNS,
    decided_name,
    deletes_in,
    has_text_rows,
    keys_in,
    property_value,
    source_in,
)
from changewire.engines.by_table import MergedRows
from changewire.engines.errors import OwnerError
from changewire.engines.json_rows import KEY, ROW
from changewire.engines.retries import WriteConflictError, retried
from changewire.engines.spark.cause import full_text
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.log.place import existing_schema
from changewire.engines.spark.merge.constraints import LENIENT, check_key, constraints_of
from changewire.engines.spark.merge.formats import (
    TableFormat,
    properties_of,
    run_sql,
    set_properties,
)
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.mutations import is_newer, row_values
from changewire.engines.spark.merge.plan import There, check_columns
from changewire.engines.spark.merge.shapes import Shape
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.session import changed
from changewire.engines.typed.own import row_properties
from changewire.engines.typed.plan import TablePlan
from changewire.tables.order import Order
from changewire.tables.row_state import COLUMN, ORDER, order_fields
from changewire_messages.change import Source

_CONFLICT: Final = re.compile(
    r"DELTA_CONCURRENT_|Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception"
    r"|DELTA_(METADATA|PROTOCOL)_CHANGED|(Metadata|Protocol)ChangedException"
    r"|CommitFailedException|Found (new )?conflicting|Cannot commit, missing data files"
)
"""What the text of an error has if another writer came first."""


@dataclass(frozen=True)
class SparkTable:
    """A table.

    Attributes:
        target: Its path or name.
        format: Its format.
    """

    target: str
    format: TableFormat

    @property
    def identifier(self) -> str:
        """The table, as SQL names it."""
        return self.format.identifier(self.target)

    def there(self, spark: SparkSession, query: str) -> There | None:
        """Return the table of a query; None if it does not exist."""
        found = self.read(spark)
        if found is None:
            return None
        if found.owner is not None and found.owner != query:
            raise OwnerError(
                f"{self.target} belongs to the query {found.owner}, so that two do not undo each "
                "other's changes. Choose another target, or stop that query and take it over by "
                "changewire.spark.adopt_table"
            )
        self.format.repair(spark, self.target, found.properties)
        check_has_key(self.target, found.keys, found.columns.names)
        check_key(found.constraints, found.keys or (), self.target)
        return found

    def source(self, spark: SparkSession) -> Source | None:
        """Return the source that the table remembers; None without a table, or a source."""
        is_there = existing_schema(spark, self.format.name, self.target) is not None
        return source_in(properties_of(spark, self.identifier)) if is_there else None

    def read(self, spark: SparkSession) -> There | None:
        """Return what is known of the table; None if it does not exist."""
        if existing_schema(spark, self.format.name, self.target) is None:
            return None
        self.format.refresh(spark, self.target)
        columns = spark.table(self.identifier).schema
        properties = properties_of(spark, self.identifier)
        named = property_value(properties.get(COLUMNS))
        if has_text_rows(columns.names, properties):
            named = (KEY, ROW)
        return There(
            columns,
            keys_in(properties),
            properties,
            None if named is None else frozenset(named),
            constraints_of(
                spark, self.identifier, columns, properties, is_delta=self.format.takes_paths
            ),
        )

    def make(
        self,
        spark: SparkSession,
        shape: Shape,
        plan: TablePlan[Shape],
        there: There | None,
        *,
        owned: Mapping[str, str],
    ) -> There:
        """Make the table if it does not exist, or give it new columns; return it.

        `owned` are properties that tell its owner, its key, and its source, if there is one.
        """
        settings, columns = plan.settings, shape.columns
        named: frozenset[str] | None = frozenset(columns.names)
        if there is None:
            found = {**owned, **deletes_in({}, settings.deletes)}
            found |= named_in(shape, named) if shape.is_typed else {}
            self.format.create(spark, self.target, columns, found, settings)
            check_columns(spark.table(self.identifier).schema, columns, self.target)
            # Properties and a layout may change what the table asks of its rows.
            if settings.laid_out_by or settings.properties:
                return self.read(spark) or There(columns, shape.keys, found, named)
            return There(columns, shape.keys, found, named)
        schema = there.columns
        if plan.has_changed:
            self.format.evolve(spark, self.target, columns)
            self.format.refresh(spark, self.target)
            schema = spark.table(self.identifier).schema
        asked = {**owned, **settings.properties, **deletes_in(there.properties, settings.deletes)}
        if shape.is_typed:
            named = None if there.named is None else there.named | plan.named
            asked |= named_in(shape, named)
        needed = {n: one for n, one in asked.items() if there.properties.get(n) != one}
        if needed:
            set_properties(spark, self.identifier, needed)
        properties = {**there.properties, **needed}
        return replace(there, columns=schema, keys=shape.keys, properties=properties, named=named)

    def truncate(self, spark: SparkSession, floor: Order) -> int | None:
        """Delete the rows that are older than a truncate; return how many, if that is known."""
        fields = order_fields(floor)
        newest = spark.range(1).select(*(F.lit(fields[name]).alias(name) for name in ORDER))
        is_older = is_newer("s", f"t.{COLUMN}")
        clauses = f"{is_older} WHEN MATCHED THEN DELETE"
        rows = self.format.merged(self.run_merge(spark, newest, clauses)).rows
        return None if rows is None else rows.get("deleted", 0)

    def merge(
        self, rows: DataFrame, shape: Shape, there: There, *, keeps_deleted: bool
    ) -> MergedRows:
        """Merge rows, one for each key; return what it did.

        Those that are ``decided`` replace their row, others do so if they are newer. Columns that
        changes do not write are left as they are; a deleted row that is kept has NULL there.
        """
        decided = decided_name(shape.columns.names)
        others = there.others - {*shape.keys}
        source = rows.select(*_columns(shape, others), F.col("decided").alias(decided))
        computed = {decided, *(there.others & {*shape.keys})}
        names = [name for name in source.columns if name not in computed]
        values = {quoted(name): f"s.{quoted(name)}" for name in names}
        inserted = self.format.inserted(there.columns, there.unwritten)
        emptied = sorted(there.unwritten - {*shape.keys, *there.constraints.closed})
        deleted = values | {quoted(name): "NULL" for name in emptied} if keeps_deleted else None
        clauses = _clauses(shape.keys, values, inserted, decided, deleted)
        spark = rows.sparkSession
        self.format.refresh(spark, self.target)
        with changed(spark, LENIENT if there.constraints.are_any else {}):
            return self.format.merged(self.run_merge(spark, source, clauses))

    def run_merge(self, spark: SparkSession, source: DataFrame, clauses: str) -> DataFrame:
        """Return what a MERGE of rows ``s`` into the table ``t`` returns.

        Args:
            spark: The session.
            source: The rows.
            clauses: The condition that a row is one of the table, and what becomes of both.
        """
        head = f"MERGE INTO {self.identifier} t USING "
        return run_statement(spark, self.target, (head, f" s ON {clauses}"), source)

    def view(self, spark: SparkSession, name: str, shape: Shape) -> None:
        """Make a view of the rows that are not deleted, or give it the columns of the table."""
        columns = ", ".join(quoted(one) for one in shape.columns.names if one != COLUMN)
        spark.sql(
            f"CREATE OR REPLACE VIEW {name} AS SELECT {columns} "  # noqa: S608 - all is quoted
            f"FROM {self.identifier} WHERE NOT coalesce({COLUMN}.deleted, false)"
        )


def named_in(shape: Shape, named: Iterable[str] | None) -> dict[str, str]:
    """Return the properties of a table that say which columns are written, and how."""
    rows = shape.rows
    return row_properties(rows.how, rows.schema if shape.is_typed else None, named)


def _columns(shape: Shape, others: Collection[str] = ()) -> list[Column]:
    """Return the columns of a table's rows, of `NAMED`, `CONTENT` and `STATE`, without others."""
    found = {**row_values(shape), COLUMN: F.col(STATE)}
    return [found[name].alias(name) for name in shape.columns.names if name not in others]


def _clauses(
    keys: Iterable[str],
    written: Mapping[str, str],
    inserted: Mapping[str, str],
    decided: str,
    deleted: Mapping[str, str] | None,
) -> str:
    """Return the clauses of a MERGE of values by columns; a new row has further ones.

    A deleted row has those of `deleted`; it is removed if that is None.
    """
    is_same = " AND ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in keys)
    is_applied = f"(s.{decided} OR {is_newer(f's.{COLUMN}', f't.{COLUMN}')})"
    is_deleted = f"s.{COLUMN}.deleted"
    new = {**written, **inserted}
    insert = f"INSERT ({', '.join(new)}) VALUES ({', '.join(new.values())})"  # noqa: S608 - all is quoted
    clauses = [f"WHEN MATCHED AND {is_applied} THEN {_update(written)}"]
    if deleted is None:
        clauses.insert(0, f"WHEN MATCHED AND {is_applied} AND {is_deleted} THEN DELETE")
        clauses.append(f"WHEN NOT MATCHED AND NOT {is_deleted} THEN {insert}")
    else:
        if deleted != written:
            removal = f"WHEN MATCHED AND {is_applied} AND {is_deleted} THEN {_update(deleted)}"
            clauses.insert(0, removal)
        clauses.append(f"WHEN NOT MATCHED THEN {insert}")
    return f"{is_same} {' '.join(clauses)}"


def _update(values: Mapping[str, str]) -> str:
    return f"UPDATE SET {', '.join(f't.{name} = {value}' for name, value in values.items())}"


def run_statement(
    spark: SparkSession, table: str, around: tuple[str, str], source: DataFrame
) -> DataFrame:
    """Return what a statement returns; it is run again if another writer came first.

    Args:
        spark: The session.
        table: The table that it writes.
        around: The text before the source, and the one behind it.
        source: What it reads.
    """
    head, tail = around

    def run() -> DataFrame:
        try:
            return run_sql(spark, head, source, tail)
        except RAISED as error:
            if _CONFLICT.search(full_text(error)) is None:
                raise
            raise WriteConflictError from error

    return retried(table, run)
