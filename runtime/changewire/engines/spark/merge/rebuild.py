"""Rebuild tables from their log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructField, StructType

from changewire.engines.adopted import check_has_key
from changewire.engines.applied import KEYS, deletes_in, property_text
from changewire.engines.errors import OutputError
from changewire.engines.options import Numbers, TableOptions
from changewire.engines.settings import Deletes, Misfits, Settings, TableSettings
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import of_target
from changewire.engines.spark.merge.carried import carried_of, columns_of_keys
from changewire.engines.spark.merge.clauses import Clauses, clauses_of
from changewire.engines.spark.merge.constraints import (
    LENIENT,
    Constraints,
    reads,
    with_partitions,
)
from changewire.engines.spark.merge.facts import facts_of_batch, known_log
from changewire.engines.spark.merge.formats import cluster_fault, format_of, set_properties
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.mutations import FAILURE, is_row_of, row_values
from changewire.engines.spark.merge.plan import (
    NEEDED,
    SparkRules,
    There,
    check_columns,
    shape_of,
    without_state,
)
from changewire.engines.spark.merge.shapes import Shape, arrow_schema
from changewire.engines.spark.merge.table import SparkTable, named_in, run_statement
from changewire.engines.spark.merge.table_log import TableLog, needs_of, table_log
from changewire.engines.spark.merge.tuning import batch_settings
from changewire.engines.spark.merge.violations import check_rows, stored
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.session import changed
from changewire.engines.typed.options import AppliedOptions, applied_options, warn_unmatched
from changewire.engines.typed.rebuilt import misfit_error, rebuilt_shape, rows_asked, settings_asked
from changewire.tables.names import Target, template_of
from changewire.tables.routing import Refusal
from changewire.tables.row_state import COLUMN
from changewire_messages.tables.spark import ROW_STATE

_BEFORE: Final = "before"
_AFTER: Final = "after"
_OTHERS: Final = "others"


def rebuild(
    spark: SparkSession,
    log: str,
    *,
    target: str,
    tables: Iterable[str] | None = None,
    where: str | None = None,
    table_format: str = "delta",
    default_table: str | None = None,
    apply_truncates: bool = False,
    deletes: Deletes | None = None,
    one_table: bool = False,
    only_tables: Sequence[str] | None = None,
    except_tables: Sequence[str] | None = None,
    row_schema: Any = None,
    misfits: Misfits | None = None,
    numbers: Numbers | None = None,
    settings: Mapping[str, TableSettings] | None = None,
) -> list[str]:
    """Rebuild tables from their log: each gets the rows that the log says, in one commit.

    It repairs a table that something else changed. If a source loaded its rows again, because a
    statement changed them without messages, `where` makes the tables of what came since. With
    `row_schema` tables get other columns: those that it says by all these changes, also by the ones
    that a table refused. Columns that nothing in the log names stay as they are. With `settings`
    tables also get other partitions and properties.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        target: Path or name of the tables, as for `apply_changes`.
        tables: Names of sources such as ``shop.orders``, whatever fields the target has, or of
            these fields alone; None for all tables that the log has.
        where: Condition in SQL on rows of the log, such as ``"timestamp >= '2026-07-01'"``.
        table_format: Format of log and tables.
        default_table: Table of writes that name none.
        apply_truncates: Whether truncates are applied.
        deletes: ``flag`` if the tables keep deleted rows, ``remove`` if not; by default what the
            last run said, which tables remember.
        one_table: As for `apply_changes`.
        only_tables: As for `apply_changes`.
        except_tables: As for `apply_changes`.
        row_schema: How tables have their rows from now on, as for `apply_changes`. By default they
            keep their columns.
        misfits: As for `apply_changes`, with `row_schema`.
        numbers: As for `apply_changes`, with `row_schema`.
        settings: Settings of some tables, as ``tables`` of `apply_changes`, with `row_schema`: how
            tables are from now on. A rebuild does not change the columns of a key. The logger
            ``changewire.rebuild`` warns of names that no table of the log has.

    Returns:
        Paths or names of the tables that were rebuilt.

    Raises:
        ValueError: An argument is not valid.
        OutputError: The log has no table of a name, or a table does not exist; `apply_changes`
            makes tables. Or its constraints do not allow rows that the log says, or changes do not
            fit the columns of `row_schema`. Such a table is as it was.
    """
    asked = TableOptions(
        target,
        default_table=default_table,
        apply_truncates=apply_truncates,
        one_table=one_table,
        only_tables=only_tables,
        except_tables=except_tables,
        **rows_asked(row_schema, misfits, numbers, settings),
    )
    how = AppliedOptions(**applied_options(None, asked, template_of(asked.target), [log]))
    how.settings.check_format(table_format)
    whole = of_target(LogPlace(log, table_format).read(spark), target)
    rows = whole if where is None else whole.where(where)
    known = known_log(rows, how.routing, with_truncates=apply_truncates, table_format=table_format)
    warn_unmatched(how, known)
    needs = needs_of(rows)
    made: list[str] = []
    with batch_settings(spark):
        for one in known.chosen(tables):
            mine = table_log(rows, needs, known, how.routing, one)
            table = SparkTable(one.name, format_of(table_format))
            there = _there(spark, table)
            given = settings_asked(how, known.names(one), there.properties, deletes)
            if row_schema is not None:
                Replacing(one, table, there, how, given).replace(mine)
            else:
                check_has_key(table.target, there.keys, there.columns.names)
                there = _mended(spark, table, there)
                shape = shape_of(there)
                found = mine.rows(mine.effects(shape), shape)
                _overwrite(table, there, found, given.deletes)
            made.append(one.name)
    return made


def _there(spark: SparkSession, table: SparkTable) -> There:
    """Return a table that exists."""
    there = table.read(spark)
    if there is None:
        raise OutputError(f"{table.target}: no table to rebuild; apply_changes makes tables")
    if COLUMN not in there.columns.names:
        check_columns(there.columns, NEEDED, table.target)
    return there


def _mended(spark: SparkSession, table: SparkTable, there: There) -> There:
    """Return a table, which gets the fields of states that those of earlier versions lack."""
    known: Any = there.columns[COLUMN].dataType
    lacking = [one for one in ROW_STATE.fields if one.name not in known.names]
    if not lacking:
        return there
    added = ", ".join(f"{COLUMN}.{one.name} {one.dataType.simpleString()}" for one in lacking)
    spark.sql(f"ALTER TABLE {table.identifier} ADD COLUMNS ({added})")
    return _there(spark, table)


def _overwrite(table: SparkTable, there: There, found: DataFrame, deletes: Deletes) -> None:
    """Give a table the rows that `TableLog.rows` returned; columns of others stay as they are."""
    spark, shape, asked = found.sparkSession, shape_of(there), there.constraints
    if deletes == "remove":
        found = found.where(~F.col(STATE)["deleted"])
    before = spark.table(table.identifier)
    with changed(spark, LENIENT if asked.are_any else {}):
        rows = stored(found, shape, there, before if there.unwritten else None)
        if asked.rules:
            check_rows(rows, asked, table.target)
        names = [one for one in rows.columns if one not in {*asked.generated, *asked.closed}]
        rows = rows.select(*map(quoted, names)).localCheckpoint()
        # A session may say that an overwrite keeps partitions which get no rows.
        writer = rows.writeTo(table.identifier).option("partitionOverwriteMode", "static")
        writer.overwrite(F.lit(True))  # noqa: FBT003 - a column of this value
    kept = deletes_in(there.properties, deletes)
    if not kept.items() <= there.properties.items():
        set_properties(spark, table.identifier, kept)


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

    def replace(self, log: TableLog) -> None:
        """Replace columns and rows by those of the log of the table."""
        spark, there = log.mine.sparkSession, self.there
        changes = log.with_effects(log.changes())
        shape = self._shape(changes)
        columns = self._columns(shape)
        clauses = self._clauses(spark, columns)
        asked = there.constraints
        if self.table.format.takes_paths:
            asked = with_partitions(asked, columns, clauses.layout)
        self._check(asked, columns, clauses.layout.columns)
        found = log.rows(self._effects(log, shape), shape)
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
        try:
            run_statement(spark, self.target.name, (head, ""), rows)
        except AnalysisException as error:
            if (fault := cluster_fault(error)) is None:
                raise
            raise OutputError(f"{self.target.name}: {fault}") from None

    def _others(self) -> list[StructField]:
        """Return the columns that nothing of the log names."""
        names = self.there.others - {*(self.there.keys or ())}
        return [one for one in self.there.columns.fields if one.name in names]

    def _shape(self, changes: DataFrame) -> Shape:
        """Return how the table has its rows afterwards."""
        facts = facts_of_batch(changes, self.options)
        sources = facts.sources
        if self.options.are_auto:
            of_keys = partial(columns_of_keys, changes, facts)
            sources = replace(sources, columns=carried_of(changes, facts), of_keys=of_keys)
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

    def _effects(self, log: TableLog, shape: Shape) -> DataFrame:
        """Return the effects of changes, all of which fit."""
        found = log.effects(shape, are_read_again=True)
        failed = found.where(F.col(FAILURE).isNotNull())
        sums = (F.count("*").alias("number"), F.min(FAILURE).alias("first"))
        ((number, first),) = failed.agg(*sums).collect()
        if number:
            raise misfit_error(self.target.name, number, Refusal(*first), self.settings)
        return found

    def _rows(
        self, found: DataFrame, changes: DataFrame, shape: Shape, columns: StructType
    ) -> DataFrame:
        """Return rows with the columns of the table, those of others as it has them."""
        values: Mapping[str, Column] = {**row_values(shape), COLUMN: F.col(STATE)}
        others = [one.name for one in columns.fields if one.name not in values]
        if others:
            there = self._there(changes, shape, others)
            is_kept = ~F.col(STATE)["deleted"]  # a deleted row has NULL there
            found = found.join(there, is_row_of(F.col(_AFTER), shape) & is_kept, "left")
            values = {**values, **{name: F.col(_OTHERS)[name] for name in others}}
        return found.select(
            *(
                values[one.name].cast(one.dataType).alias(one.name, metadata=one.metadata)
                for one in columns.fields
            )
        )

    def _there(self, changes: DataFrame, shape: Shape, others: Iterable[str]) -> DataFrame:
        """Return the columns of others, by the keys that rows have afterwards."""
        check_has_key(self.target.name, self.there.keys, self.there.columns.names)
        before, texts = shape_of(self.there), F.explode(F.array("key", "before_key"))
        keys = changes.select(texts.alias("key")).where("key IS NOT NULL").distinct()
        fields = [StructField(_BEFORE, before.named_type), StructField(_AFTER, shape.named_type)]
        kind = StructType(fields)
        pairs = keys.mapInArrow(_key_pairs(before, shape, arrow_schema(kind)), kind)
        rows = changes.sparkSession.table(self.table.identifier)
        parts = {_BEFORE: before.keys, _OTHERS: others}
        rows = rows.select(*(F.struct(*map(quoted, n)).alias(one) for one, n in parts.items()))
        return pairs.join(rows, _BEFORE).select(_AFTER, _OTHERS).dropDuplicates([_AFTER])


def _key_pairs(
    before: Shape, after: Shape, schema: pa.Schema
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what yields the columns of keys before and after a table is replaced."""
    rows = before.rows, after.rows

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = batch.column("key")
            found = [one.fitted(keys, pa.nulls(len(keys), pa.string())) for one in rows]
            misfits = {index for one in found for index in one.failures}  # they name no row
            columns = [
                pa.StructArray.from_arrays([one.rows.field(n) for n in kind.keys], [*kind.keys])
                for one, kind in zip(found, rows, strict=True)
            ]
            arrays = [one.cast(f.type) for one, f in zip(columns, schema, strict=True)]
            kept = pa.array([index not in misfits for index in range(len(keys))], pa.bool_())
            yield pa.RecordBatch.from_arrays(arrays, schema=schema).filter(kept)

    return each
