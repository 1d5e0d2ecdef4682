"""Changes that cannot be applied: dead letters before anything of their batch is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import LongType, StringType, StructField, StructType

from changewire.engines.layout import DEAD_LETTER
from changewire.engines.spark.apply.refused import where
from changewire.engines.typed.refused import RefusedRows
from changewire.tables.routing import Refusal

_WHY: Final = "_refused"

ROW_ID: Final = "row_id"
"""Column of the rows of a batch, and of their effects: a number for each decoded row. An effect of
an earlier batch has none."""

FAILURE: Final = "failure"
"""Column of effects and decisions: why a change cannot be applied, NULL if it can."""

FAILURE_TYPE: Final = StructType([StructField(name, StringType()) for name in Refusal._fields])

ROW_ID_FIELD: Final = StructField(ROW_ID, LongType())
FAILURE_FIELD: Final = StructField(FAILURE, FAILURE_TYPE)


def numbered(rows: DataFrame) -> DataFrame:
    """Return the rows of a batch with `ROW_ID`; the rows must be kept."""
    return rows.withColumn(ROW_ID, F.monotonically_increasing_id())


def has_failed() -> Column:
    """Return the condition that an effect cannot be applied."""
    return F.col(FAILURE).isNotNull()


def refused(rows: DataFrame, why: Iterable[RefusedRows], format: str) -> DataFrame:
    """Return decoded rows, with the messages of all, in which some changes are dead letters.

    The first of `why` that a row meets is its reason.
    """
    chosen = F.lit(None).cast(FAILURE_TYPE)
    for one in reversed([*why]):
        reason = F.struct(*(F.lit(value).alias(name) for name, value in one.why._asdict().items()))
        chosen = F.when(where(one), reason).otherwise(chosen)
    return _as_dead_letters(rows.withColumn(_WHY, chosen), format)


def failed(rows: DataFrame, failures: DataFrame, format: str) -> DataFrame:
    """Return decoded rows, with the messages of all, in which changes that failed are dead letters.

    `failures` has `ROW_ID` and `FAILURE`; a change may be there several times.
    """
    found = failures.groupBy(ROW_ID).agg(F.min(FAILURE).alias(_WHY))
    return _as_dead_letters(rows.join(F.broadcast(found), ROW_ID, "left"), format)


def _as_dead_letters(rows: DataFrame, format: str) -> DataFrame:
    """Return rows of which those are dead letters that have a reason in `_WHY`."""
    why, is_refused = F.col(_WHY), F.col(_WHY).isNotNull()
    # `Refusal.text` says the same.
    text = F.concat(why["code"], F.lit(": "), why["pointer"], F.lit(": "), why["message"])
    columns = {
        "kind": F.lit(DEAD_LETTER),
        "format": F.lit(format),
        "code": why["code"],
        "pointer": why["pointer"],
        "message": text,
    }
    marked = {
        name: F.when(is_refused, value).otherwise(F.col(name)) for name, value in columns.items()
    }
    return rows.withColumns(marked).drop(_WHY)
