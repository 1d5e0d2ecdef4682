"""Rows of changes as columns of a type, made while they are decoded, as rows of tables in Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.typed.images import IMAGE


def image_type(rows: StructType) -> StructType | None:
    """Return the type of `IMAGE` in some rows; None if they do not have it."""
    return cast("StructType", rows[IMAGE].dataType) if IMAGE in rows.names else None


def is_image_of(given: StructType, row: StructType, keys: Sequence[str]) -> bool:
    """Whether images have columns of a table alone, of the same types, and those of its key.

    Args:
        given: Type of the images.
        row: Type of the table's rows.
        keys: Columns of its key.
    """
    return {*keys} <= {*given.names} and _kinds(given).items() <= _kinds(row).items()


def row_of_image(given: StructType, row: StructType) -> Column:
    """Return `IMAGE` as a row of a table; columns that it lacks are NULL.

    Args:
        given: Type of the images.
        row: Type of the table's rows.
    """
    image = F.col(IMAGE)
    fields = [(f, image[f.name] if f.name in given.names else F.lit(None)) for f in row.fields]
    return F.struct(*(column.cast(field.dataType).alias(field.name) for field, column in fields))


def _kinds(row: StructType) -> dict[str, str]:
    """Return the types of the columns of a row, as text."""
    return {field.name: field.dataType.simpleString() for field in row.fields}
