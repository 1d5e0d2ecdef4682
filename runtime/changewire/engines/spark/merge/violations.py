"""Which rows a table cannot take, since they do not satisfy one of its constraints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructField

from changewire.engines.applied import decided_name
from changewire.engines.errors import OutputError
from changewire.engines.spark.merge.constraints import LENIENT, Constraint, Constraints, reads
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.mutations import (
    CONTENT,
    FAILURE,
    FAILURE_TYPE,
    NAMED,
    PLACE,
    is_row_of,
    row_values,
)
from changewire.engines.spark.merge.plan import There
from changewire.engines.spark.merge.shapes import Shape
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.session import changed
from changewire.tables.routing import constraint_refusal
from changewire.tables.row_state import COLUMN

_ROW: Final = "_row"


def violations(
    rows: DataFrame,
    shape: Shape,
    there: There,
    table: DataFrame | None,
    *,
    are_whole: bool,
) -> DataFrame:
    """Return the rows that do not satisfy a constraint, with `FAILURE`.

    Args:
        rows: Rows with `NAMED`, and `CONTENT` as in the table.
        shape: How the table has its rows.
        there: What is known of the table.
        table: Its rows.
        are_whole: Whether all columns of the content are from changes; else the table computes
            generated columns, whatever the content has.
    """
    constraints, own = there.constraints, decided_name(there.columns.names)
    rules = [*constraints.rules]
    if are_whole:
        rules += _agreements(constraints, row_values(shape), own)
    with changed(rows.sparkSession, LENIENT):
        is_read = any(constraints.reads(name) for name in there.unwritten)
        whole = F.struct(*rows.columns).alias(own)
        found = stored(rows, shape, there, table if is_read else None, whole)
        kept = (F.col(own)[name].alias(name) for name in rows.columns if name != FAILURE)
        marked = found.select(*kept, _first_violated(rules).alias(FAILURE))
        return marked.where(F.col(FAILURE).isNotNull())


def spoiling(steps: DataFrame, wrong: DataFrame, *, are_all: bool) -> DataFrame:
    """Return positions of the changes by which rows of hard keys violate constraints, and why.

    Args:
        steps: Decided rows after each change.
        wrong: Those that violate a constraint.
        are_all: Whether the changes of the key that follow the first of them are among them.
    """
    place = F.struct(*PLACE)
    first = wrong.groupBy(NAMED).agg(F.min(F.struct(place.alias("place"), FAILURE)).alias("first"))
    if not are_all:
        return first.select("first.place.*", F.col("first")[FAILURE].alias(FAILURE))
    found = steps.drop(FAILURE).join(first, NAMED)
    return found.where(place >= F.col("first.place")).select(
        *PLACE, F.col("first")[FAILURE].alias(FAILURE)
    )


def check_flags(spark: SparkSession, there: There, target: str) -> None:
    """Check that a table can keep deleted rows, which have NULL in all columns but the key's."""
    rules = [
        one
        for one in there.constraints.rules
        if not any(reads(one.holds, name) for name in there.keys or ())
    ]
    if not rules:
        return
    nothing = spark.range(1).select(*map(_null, there.columns.fields))
    with changed(spark, LENIENT):
        ((why,),) = nothing.select(_first_violated(rules)["message"]).collect()
    if why is not None:
        raise OutputError(
            f"{target}: deletes='flag' keeps deleted rows, with NULL in all columns but those of "
            f"the key, and {why}; choose deletes='remove'"
        )


def check_rows(rows: DataFrame, asked: Constraints, target: str) -> None:
    """Check that rows of a table, as `stored` returns them, satisfy its constraints."""
    found = rows.select(_first_violated(asked.rules)["message"].alias("why"))
    for why, number in found.where("why IS NOT NULL").groupBy("why").count().limit(1).collect():
        raise OutputError(f"{target}: {number} rows that the log says do not fit: {why}")


def stored(
    rows: DataFrame,
    shape: Shape,
    there: There,
    table: DataFrame | None,
    *kept: Column,
) -> DataFrame:
    """Return rows with the columns that a table gives them, and columns of their own to keep.

    Args:
        rows: Rows with `NAMED`, `CONTENT` and perhaps `STATE`.
        shape: How the table has its rows.
        there: What is known of the table.
        table: Its rows, if columns that changes do not write are needed as it has them.
        kept: Columns to keep.
    """
    asked, row = there.constraints, F.col(_ROW)
    values = row_values(shape)
    if STATE in rows.columns:
        values[COLUMN] = F.col(STATE)
    if table is not None:
        rows = rows.join(table.select(F.struct("*").alias(_ROW)), is_row_of(row, shape), "left")
    columns = [*kept]
    for one in there.columns.fields:
        value = values.get(one.name, F.lit(None))
        if one.name in there.unwritten:
            value = F.expr(asked.defaults.get(one.name, "NULL"))
            if table is not None:
                value = F.when(row.isNotNull(), row[one.name]).otherwise(value)
            if STATE in rows.columns:  # a deleted row has NULL there too
                value = F.when(~F.col(STATE)["deleted"], value)
        if one.name not in asked.generated:
            columns.append(value.cast(one.dataType).alias(one.name))
    kinds = {one.name: one.dataType for one in there.columns.fields}
    computed = asked.generated.items()
    return rows.select(*columns).select(
        "*", *(F.expr(text).cast(kinds[name]).alias(name) for name, text in computed)
    )


def _agreements(asked: Constraints, written: Iterable[str], own: str) -> Iterator[Constraint]:
    """Yield the conditions that generated columns are as in changes, as far as they do."""
    for name in asked.generated:
        if name in written:
            value = f"{quoted(own)}.{CONTENT}.{quoted(name)}"
            holds = f"{value} IS NULL OR {value} <=> {quoted(name)}"
            yield Constraint(f"generated column {name}", holds)


def _first_violated(rules: Iterable[Constraint]) -> Column:
    """Return the refusal by the first constraint that a row does not satisfy; NULL without any."""
    whys = [
        F.when(~F.coalesce(F.expr(one.holds), F.lit(False)), _refusal(one))  # noqa: FBT003
        for one in rules
    ]
    return F.coalesce(F.lit(None).cast(FAILURE_TYPE), *whys)


def _refusal(violated: Constraint) -> Column:
    values = constraint_refusal(violated.name)._asdict().items()
    return F.struct(*(F.lit(value).alias(name) for name, value in values))


def _null(column: StructField) -> Column:
    return F.lit(None).cast(column.dataType).alias(column.name)
