"""What Spark's own AUTO CDC flows need: a source view, its keys, its order, its deletes.

What such a flow asks of its source is said in Spark's programming guide of declarative pipelines,
and by the error class ``AUTOCDC_MICROBATCH_VALIDATION``: columns that name the row and are never
NULL, a column of a type with an order that is never NULL, and no names of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.parts import position_columns, quoted
from changewire.engines.spark.types import nullable
from changewire.tables.effects import DELETE, WRITES

__all__ = ["AutoCdc", "auto_cdc"]

SEQUENCE: Final = "_changewire_sequence"
IS_DELETE: Final = "_changewire_is_delete"

_OLDEST: Final = -(2**63)
"""In place of the major part of a sequence, where a change has none: before every other."""

_RESERVED = re.compile(
    rf"__spark_autocdc_.*|__start_at|__end_at|{SEQUENCE}|{IS_DELETE}", re.IGNORECASE | re.DOTALL
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_KEY, _EFFECT = "_changewire_key", "_changewire_effect"


@dataclass(frozen=True)
class AutoCdc:
    """One table of a topic, as ``pyspark.pipelines.create_auto_cdc_flow`` wants it.

    Such a flow sets whole rows, so what it is given are whole rows and deletes: the changes that
    are neither, or have no key, are `left_out`.

    Attributes:
        rows: The columns of the row, as given to `decode`.
        keys: The columns that name it.
        table: Name of the table at its source; None where the topic has one only.
        database: Name of its database or namespace; None for any.
    """

    rows: StructType
    keys: StructType
    table: str | None = None
    database: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``create_auto_cdc_flow`` but target and source.

        To be passed on as keywords: ``keys``, ``sequence_by``, ``apply_as_deletes`` and
        ``except_column_list``.
        """
        return {
            "keys": [_quoted(name) for name in self.keys.names],
            "sequence_by": SEQUENCE,
            "apply_as_deletes": IS_DELETE,
            "except_column_list": [SEQUENCE, IS_DELETE],
        }

    def view(self, decoded: Decoded) -> DataFrame:
        """Return the source of the flow: a row for each row that a change writes or deletes.

        A change of a key gives two. It is a stream where the messages are one, and has no state.

        Raises:
            ValueError: The rows of the decoded messages are no columns, or others.
        """
        changes = self._changes(decoded)
        effects = F.array_compact(F.array(_old_row(), _row()))
        each = changes.withColumn(_EFFECT, F.explode(effects))
        each = each.withColumn(_KEY, self._key(f"{_EFFECT}.key"))
        names = self.keys.names
        return each.where(self._has_key(F.col(_KEY))).select(
            *(F.col(_KEY).getField(name).alias(name) for name in names),
            *(F.col("after").getField(n).alias(n) for n in self.rows.names if n not in names),
            _sequence(F.col(f"{_EFFECT}.minor")).alias(SEQUENCE),
            F.col(f"{_EFFECT}.is_delete").alias(IS_DELETE),
        )

    def left_out(self, decoded: Decoded) -> DataFrame:
        """Return the changes of the table of which the view lacks a row, to be kept elsewhere.

        They have no key or none of the types of `keys`, or they are no whole rows: patches, and
        writes that only touch a record.

        Raises:
            ValueError: The rows of the decoded messages are no columns, or others.
        """
        has_old = F.col("before_key").isNull() | self._has_key(self._key("before_key"))
        is_taken = (_is_write() | _is_delete()) & self._has_key(self._key("key")) & has_old
        return self._changes(decoded).where(~is_taken)

    def _changes(self, decoded: Decoded) -> DataFrame:
        if decoded.rows_as != nullable(self.rows):
            raise ValueError("decode with these columns as rows: decode(..., rows=cdc.rows)")
        found = decoded.changes
        if self.database is not None:
            found = found.where(F.col("source.database") == self.database)
        if self.table is None:
            return found
        # A delete that does not say its table is one of every table that it could be of.
        no_table = F.col("source.table").isNull() & (F.col("op") == DELETE)
        return found.where(F.col("source.table").eqNullSafe(self.table) | no_table)

    def _key(self, column: str) -> Column:
        return F.from_json(F.col(column), nullable(self.keys))

    def _has_key(self, key: Column) -> Column:
        return reduce(and_, [key.getField(name).isNotNull() for name in self.keys.names])


def auto_cdc(
    rows: StructType,
    keys: Sequence[str] | StructType,
    *,
    table: str | None = None,
    database: str | None = None,
) -> AutoCdc:
    """Return what an AUTO CDC flow of one table needs.

    Args:
        rows: The columns of the row; `changewire.spark.row_type` makes them of a schema.
        keys: The columns that name the row: names of columns of `rows`, or a StructType for those
            that rows lack.
        table: Name of the table at its source; None takes every change.
        database: Name of its database or namespace; None takes any.

    Raises:
        ValueError: There is no key, a key is no column, or a column has a name that flows reserve.
    """
    unknown = [] if isinstance(keys, StructType) else [n for n in keys if n not in rows.names]
    if isinstance(keys, str) or not keys or unknown:
        raise ValueError(f"keys are columns of the row, at least one; unknown: {unknown or keys}")
    named = keys if isinstance(keys, StructType) else StructType([rows[name] for name in keys])
    reserved = [name for name in [*named.names, *rows.names] if _RESERVED.fullmatch(name)]
    if reserved:
        raise ValueError(f"AUTO CDC reserves these names of columns: {', '.join(reserved)}")
    return AutoCdc(rows, named, table, database)


def _is_full() -> Column:
    image = F.get_json_object("attributes", "$.image")
    return image.isNull() | (image == "full")


def _is_write() -> Column:
    """Whether a change leaves a row that is known as a whole."""
    return F.col("op").isin(*WRITES) & F.col("after").isNotNull() & _is_full()


def _is_lone_before() -> Column:
    """Whether a change is the row before an update; see `changewire.tables.effects`."""
    is_half = F.col("sequence.minor").isNull() | (F.col("sequence.minor") == 0)
    images = F.col("after").isNull() & F.col("before").isNotNull()
    return (F.col("op") == "update") & images & is_half & _is_full()


def _is_delete() -> Column:
    return (F.col("op") == DELETE) | _is_lone_before()


def _row() -> Column:
    """Return what a change does to the row of its key; NULL for nothing."""
    minor = F.when(_is_lone_before(), F.lit(0)).otherwise(F.col("sequence.minor"))
    effect = _effect("key", _is_delete(), minor)
    return F.when(_is_write() | _is_delete(), effect)


def _old_row() -> Column:
    """Return what a change does to the row of the key that it was moved from; NULL for nothing."""
    effect = _effect("before_key", F.lit(col=True), F.lit(0))
    return F.when(F.col("before_key").isNotNull(), effect)


def _effect(key: str, is_delete: Column, minor: Column) -> Column:
    return F.struct(
        F.col(key).alias("key"),
        is_delete.alias("is_delete"),
        F.coalesce(minor, F.lit(0)).cast("long").alias("minor"),
    )


def _sequence(minor: Column) -> Column:
    """Return the order of a change as `changewire.tables` has it, never NULL: no two are equal."""
    return F.struct(
        F.coalesce("sequence.major", F.lit(_OLDEST)).alias("major"),
        minor.alias("minor"),
        *position_columns(),
    )


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted(name)
