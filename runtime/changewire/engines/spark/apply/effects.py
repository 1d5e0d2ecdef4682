"""Decoded rows in Spark that say as well what each change does to rows of tables."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from changewire.changes.change_row import ChangeRow
from changewire.engines.decode import Elements
from changewire.engines.effects import EFFECTS, EffectsDecoder
from changewire.engines.spark.typed import TypedDecoder

SEQUENCE: Final = StructType([StructField("major", LongType()), StructField("minor", LongType())])

EFFECT: Final = StructType(
    [
        StructField("key", StringType()),
        StructField("kind", StringType()),
        StructField("sequence", SEQUENCE),
        StructField("names", ArrayType(StringType())),
    ]
)
"""`changewire.engines.effects.EFFECT` as Spark has it."""


def with_effects(rows: StructType) -> StructType:
    """Return the type of decoded rows that have `EFFECTS` as well."""
    return StructType([*rows.fields, StructField(EFFECTS, ArrayType(EFFECT))])


class CheckedEffectsDecoder(EffectsDecoder, TypedDecoder):
    """Decodes into rows of JSON text, and refuses elements whose rows do not fit a type."""

    def _typed(self, change: ChangeRow, used: list[str]) -> ChangeRow:
        super()._typed(change, used)
        return change

    def _images(self, columns: dict[str, pa.Array], elements: Elements) -> None:
        """Leave the rows as they are."""
