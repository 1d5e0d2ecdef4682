"""Rows of a table that are replaced in one commit with its columns and properties."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructField, StructType

from changewire.engines.applied import KEYS, deletes_in, property_text
from changewire.engines.errors import OutputError
from changewire.engines.settings import Settings
from changewire.engines.spark.log.rows import newest
from changewire.engines.spark.merge.carried import carried_of
from changewire.engines.spark.merge.clauses import Clauses, clauses_of
from changewire.engines.spark.merge.constraints import (
    LENIENT,
    Constraints,
    reads,
    with_partitions,
)
from changewire.engines.spark.merge.current import effects_of_log, rows_of_log
from changewire.engines.spark.merge.facts import facts_of_batch
from changewire.engines.spark.merge.from_log import is_change, with_effects
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.mutations import FAILURE, is_row_of, row_values
from changewire.engines.spark.merge.plan import SparkRules, There, shape_of, without_state
from changewire.engines.spark.merge.shapes import Shape, arrow_schema
from changewire.engines.spark.merge.table import SparkTable, named_in, run_statement
from changewire.engines.spark.merge.violations import check_rows
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.session import changed
from changewire.engines.typed.options import AppliedOptions
from changewire.engines.typed.rebuilt import misfit_error, rebuilt_shape
from changewire.tables.names import Target
from changewire.tables.order import Order
from changewire.tables.row_state import COLUMN

_BEFORE: Final = "before"
_AFTER: Final = "after"
_OTHERS: Final = "others"


@dataclass(frozen=True)
class Replacing:
    """Gives a table the columns that options say, and the rows of its log.

    Attributes:
        target: The table.
        table: How Spark has it.
        there: What is known of it.
        options: How its rows are asked for.
        settings: What is asked of it.
    """

    target: Target
    table: SparkTable
    there: There
    options: AppliedOptions
    settings: Settings

    def replace(self, mine: DataFrame, log: DataFrame, floor: Order) -> None:
        """Replace columns and rows.

        Args:
            mine: Rows of the log of this table.
            log: All rows of the log.
            floor: Order of the newest truncate.
        """
        spark, there = log.sparkSession, self.there
        changes = with_effects(newest(mine.where(is_change()), log))
        shape = self._shape(changes)
        columns = self._columns(shape)
        clauses = self._clauses(spark, columns)
        asked = there.constraints
        if self.table.format.takes_paths:
            asked = with_partitions(asked, columns, clauses.layout)
        self._check(asked, columns, clauses.layout.columns)
        found = rows_of_log(self._effects(mine, log, shape), shape, floor)
        if not self.settings.keeps_deleted:
            found = found.where(~F.col(STATE)["deleted"])
        with changed(spark, LENIENT if asked.are_any else {}):
            rows = self._rows(found, changes, shape, columns).localCheckpoint()
            if asked.rules:
                check_rows(rows, asked, self.target.name)
        properties = {KEYS: property_text([*shape.keys])}
        properties |= named_in(shape, shape.columns.names)
        properties |= deletes_in(there.properties, self.settings.deletes)
        head = clauses.statement(self.table, properties)
        run_statement(spark, self.target.name, (head, ""), rows)

    def _others(self) -> list[StructField]:
        """Return the columns that nothing of the log names."""
        names = self.there.others - {*(self.there.keys or ())}
        return [one for one in self.there.columns.fields if one.name in names]

    def _shape(self, changes: DataFrame) -> Shape:
        """Return how the table has its rows afterwards."""
        facts = facts_of_batch(changes, self.options)
        sources = facts.sources
        if self.options.are_auto:
            sources = replace(sources, columns=carried_of(changes, facts))
        others = without_state(StructType(self._others()))
        keys = None if self.there.has_text else self.there.keys
        rules = SparkRules(self.table.format, None)
        return rebuilt_shape(self.target, others, keys, sources, self.options, self.settings, rules)

    def _columns(self, shape: Shape) -> StructType:
        """Return the columns that the table has afterwards."""
        own = shape.columns.fields
        others = [one for one in self._others() if one.name not in shape.columns.names]
        return StructType([*own[:-1], *others, own[-1]])

    def _clauses(self, spark: SparkSession, columns: StructType) -> Clauses:
        """Return layout, properties and comment of the table afterwards."""
        there = clauses_of(spark, self.table, columns)
        found = there.asked(self.settings)
        if there.layout.clusters and found.layout.partitions:
            text = f"it has {there.layout.text}, and Delta gives such a table no partitions"
            raise OutputError(f"{self.target.name}: {text}; choose another target")
        return found

    def _check(self, asked: Constraints, columns: StructType, parts: Collection[str]) -> None:
        """Check that nothing is lost which Spark cannot give a table that is replaced."""
        names, there = {*columns.names}, self.there.columns
        required = [one.name for one in there.fields if not one.nullable]
        for name in (*required, *asked.generated, *asked.defaults, *asked.closed):
            if name in names:
                text = f"column {name!r} is NOT NULL, has a default or is generated"
                raise OutputError(f"{self.target.name}: {text}; row_schema would end that")
        for name in (*parts, *there.names):
            used = [one.name for one in asked.rules if reads(one.holds, name)]
            used = ["its layout", *used] if name in parts else used
            if used and name not in names:
                text = f"row_schema has no column {name!r}, on which depends: {used[0]}"
                raise OutputError(f"{self.target.name}: {text}")

    def _effects(self, mine: DataFrame, log: DataFrame, shape: Shape) -> DataFrame:
        """Return the effects of changes, all of which fit."""
        found = effects_of_log(mine, log, shape)
        failed = found.where(F.col(FAILURE).isNotNull())
        sums = (F.count("*").alias("number"), F.min(FAILURE).alias("first"))
        ((number, first),) = failed.agg(*sums).collect()
        if number:
            raise misfit_error(self.target.name, number, ": ".join(first))
        return found

    def _rows(
        self, found: DataFrame, changes: DataFrame, shape: Shape, columns: StructType
    ) -> DataFrame:
        """Return rows with the columns of the table, those of others as it has them."""
        values: Mapping[str, Column] = {**row_values(shape), COLUMN: F.col(STATE)}
        others = [one.name for one in columns.fields if one.name not in values]
        if others:
            there = self._there(changes, shape, others)
            found = found.join(there, is_row_of(F.col(_AFTER), shape), "left")
            values = {**values, **{name: F.col(_OTHERS)[name] for name in others}}
        return found.select(
            *(
                values[one.name].cast(one.dataType).alias(one.name, metadata=one.metadata)
                for one in columns.fields
            )
        )

    def _there(self, changes: DataFrame, shape: Shape, others: Iterable[str]) -> DataFrame:
        """Return the columns of others, by the keys that rows have afterwards."""
        before, texts = shape_of(self.there), F.explode(F.array("key", "before_key"))
        keys = changes.select(texts.alias("key")).where("key IS NOT NULL").distinct()
        fields = [StructField(_BEFORE, before.named_type), StructField(_AFTER, shape.named_type)]
        kind = StructType(fields)
        pairs = keys.mapInArrow(KeyPairs(before, shape, arrow_schema(kind)), kind)
        rows = changes.sparkSession.table(self.table.identifier)
        parts = {_BEFORE: before.keys, _OTHERS: others}
        rows = rows.select(*(F.struct(*map(quoted, n)).alias(one) for one, n in parts.items()))
        return pairs.join(rows, _BEFORE).select(_AFTER, _OTHERS).dropDuplicates([_AFTER])


class KeyPairs:
    """Gives the columns of keys before and after a table is replaced; what `mapInArrow` takes."""

    def __init__(self, before: Shape, after: Shape, schema: pa.Schema) -> None:
        """Remember how the table has its rows."""
        self._rows, self._schema = (before.rows, after.rows), schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the columns of the keys of each batch; one that does not fit names no row."""
        for batch in batches:
            keys = batch.column("key")
            found = [one.fitted(keys, pa.nulls(len(keys), pa.string())) for one in self._rows]
            misfits = {index for one in found for index in one.failures}
            columns = [
                pa.StructArray.from_arrays([one.rows.field(n) for n in kind.keys], [*kind.keys])
                for one, kind in zip(found, self._rows, strict=True)
            ]
            arrays = [one.cast(f.type) for one, f in zip(columns, self._schema, strict=True)]
            kept = pa.array([index not in misfits for index in range(len(keys))], pa.bool_())
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema).filter(kept)
