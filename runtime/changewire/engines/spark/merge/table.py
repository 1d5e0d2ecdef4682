"""A table of a query: made, changed, and merged into by one statement a batch."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.applied import decided_name, keys_in, owned_by, owner_in, source_in
from changewire.engines.errors import OwnerError
from changewire.engines.json_rows import ROW
from changewire.engines.retries import WriteConflictError, retried
from changewire.engines.spark.cause import full_text
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.log.place import schema_of
from changewire.engines.spark.merge.formats import TableFormat, properties_of, set_properties
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.mutations import CONTENT, NAMED, is_newer
from changewire.engines.spark.merge.plan import There, check_columns
from changewire.engines.spark.merge.shapes import JsonShape, Shape
from changewire.engines.spark.parts import quoted
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
        """Return the table; None if it does not exist."""
        columns = schema_of(spark, self.format.name, self.target)
        if columns is None:
            return None
        properties = properties_of(spark, self.identifier)
        self.format.repair(spark, self.target, properties)
        owner = owner_in(properties)
        if owner is not None and owner != query:
            raise OwnerError(
                f"{self.target} belongs to the query {owner}, so that two do not undo each "
                "other's changes. Choose another target, or stop that query and take it over by "
                "changewire.spark.adopt_table"
            )
        return There(columns, keys_in(properties), owner is not None, source_in(properties))

    def source(self, spark: SparkSession) -> Source | None:
        """Return the source that the table remembers; None without a table, or a source."""
        is_there = schema_of(spark, self.format.name, self.target) is not None
        return source_in(properties_of(spark, self.identifier)) if is_there else None

    def make(
        self,
        spark: SparkSession,
        shape: Shape,
        query: str,
        there: There | None,
        *,
        has_changed: bool,
        source: Source | None,
    ) -> There:
        """Make the table if it does not exist, or give it new columns; return it.

        It remembers the source, if there is one.
        """
        owned = owned_by(query, shape.keys, source)
        if there is None:
            self.format.create(spark, self.target, shape.columns, owned)
            check_columns(spark.table(self.identifier).schema, shape.columns, self.target)
        elif has_changed:
            self.format.evolve(spark, self.target, shape.columns)
        held = None if there is None else there.source
        is_known = there is None or (there.keys is not None and there.is_owned)
        if not is_known or (there is not None and source not in {None, held}):
            set_properties(spark, self.identifier, owned)
        return There(shape.columns, shape.keys, source=source or held)

    def truncate(self, spark: SparkSession, floor: Order) -> int | None:
        """Delete the rows that are older than a truncate; return how many, if that is known."""
        fields = order_fields(floor)
        newest = spark.range(1).select(*(F.lit(fields[name]).alias(name) for name in ORDER))
        is_older = is_newer("s", f"t.{COLUMN}")
        statement = f"MERGE INTO {self.identifier} t USING {{source}} s ON {is_older} "
        statement += "WHEN MATCHED THEN DELETE"
        found = merged(spark, self.target, statement, newest)
        return self.format.merged(found)["deleted"]

    def merge(self, rows: DataFrame, shape: Shape, *, keeps_deleted: bool) -> Counter[str]:
        """Merge rows, one for each key; return how many were inserted, updated and deleted.

        Those that are ``decided`` replace their row, others do so if they are newer.
        """
        decided = decided_name(shape.columns.names)
        source = rows.select(*row_columns(shape), F.col("decided").alias(decided))
        statement = _statement(self.identifier, shape, decided, keeps_deleted=keeps_deleted)
        spark = rows.sparkSession
        self.format.refresh(spark, self.target)
        return self.format.merged(merged(spark, self.target, statement, source))

    def view(self, spark: SparkSession, name: str, shape: Shape) -> None:
        """Make a view of the rows that are not deleted, or give it the columns of the table."""
        columns = ", ".join(quoted(one) for one in shape.columns.names if one != COLUMN)
        spark.sql(
            f"CREATE OR REPLACE VIEW {name} AS SELECT {columns} "  # noqa: S608 - all is quoted
            f"FROM {self.identifier} WHERE NOT coalesce({COLUMN}.deleted, false)"
        )


def row_columns(shape: Shape) -> list[Column]:
    """Return the columns of a table's rows, of `NAMED`, `CONTENT` and `STATE`."""
    named, content = F.col(NAMED), F.col(CONTENT)
    if isinstance(shape, JsonShape):
        row = {ROW: content}
    else:
        row = {name: content[name] for name in shape.content_type.names}
    found = {**row, **{name: named[name] for name in shape.keys}, COLUMN: F.col(STATE)}
    return [found[name].alias(name) for name in shape.columns.names]


def _statement(identifier: str, shape: Shape, decided: str, *, keeps_deleted: bool) -> str:
    """Return the MERGE of a table."""
    names = [quoted(name) for name in shape.columns.names]
    is_same = " AND ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in shape.keys)
    is_applied = f"(s.{decided} OR {is_newer(f's.{COLUMN}', f't.{COLUMN}')})"
    is_deleted = f"s.{COLUMN}.deleted"
    sets = ", ".join(f"t.{name} = s.{name}" for name in names)
    values = ", ".join(f"s.{name}" for name in names)
    insert = f"INSERT ({', '.join(names)}) VALUES ({values})"  # noqa: S608 - all is quoted
    clauses = [f"WHEN MATCHED AND {is_applied} THEN UPDATE SET {sets}"]
    if keeps_deleted:
        clauses.append(f"WHEN NOT MATCHED THEN {insert}")
    else:
        clauses.insert(0, f"WHEN MATCHED AND {is_applied} AND {is_deleted} THEN DELETE")
        clauses.append(f"WHEN NOT MATCHED AND NOT {is_deleted} THEN {insert}")
    return f"MERGE INTO {identifier} t USING {{source}} s ON {is_same} {' '.join(clauses)}"


def merged(spark: SparkSession, table: str, statement: str, source: DataFrame) -> list[Row]:
    """Return what a MERGE returns; it is tried again if another writer came first."""

    def run() -> list[Row]:
        try:
            return spark.sql(statement, source=source).collect()
        except RAISED as error:
            if _CONFLICT.search(full_text(error)) is None:
                raise
            raise WriteConflictError from error

    return retried(table, run)
