"""Changes that cannot be applied, found while they are fitted, decided on or packed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import LongType, StringType, StructField, StructType

from changewire.tables.routing import Refusal, apply_failed

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


def built(
    values: Sequence[Any], kind: pa.DataType, failures: list[dict[str, str] | None], step: str
) -> pa.Array:
    """Return values as a column; those that Arrow refuses are NULL, and fail.

    Args:
        values: The values.
        kind: Type of the column.
        failures: Why each value's change cannot be applied; those that fail here are added.
        step: What is done, for `apply_failed`.
    """
    try:
        return pa.array(values, kind)
    except Exception:  # noqa: BLE001 - one value must not end the stream
        return pa.array([*_alone(values, kind, failures, step)], kind)


def _alone(
    values: Sequence[Any], kind: pa.DataType, failures: list[dict[str, str] | None], step: str
) -> Iterator[Any]:
    """Yield values, and None for those that Arrow refuses."""
    for index, value in enumerate(values):
        failure = _failure(value, kind, step)
        failures[index] = failures[index] or failure
        yield None if failure else value


def _failure(value: Any, kind: pa.DataType, step: str) -> dict[str, str] | None:
    try:
        pa.array([value], kind)
    except Exception as error:  # noqa: BLE001 - as above
        return apply_failed(error, "/after", step)._asdict()
    return None
