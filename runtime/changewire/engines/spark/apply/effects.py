"""Decoded rows that say as well what each change does to rows of tables."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from changewire.changes.change_row import ChangeRow
from changewire.engines.decode import Decoder, Elements
from changewire.engines.layout import CHANGE_OPS
from changewire.engines.places import Places
from changewire.engines.spark.typed import TypedDecoder
from changewire.tables.effects import Effect, effects
from changewire.tables.keys import key_text
from changewire.tables.order import NOWHERE, Placed

EFFECTS: Final = "effects"
"""Column of decoded rows."""

SEQUENCE: Final = StructType([StructField("major", LongType()), StructField("minor", LongType())])

EFFECT: Final = StructType(
    [
        StructField("key", StringType()),
        StructField("kind", StringType()),
        StructField("sequence", SEQUENCE),
        StructField("names", ArrayType(StringType())),
    ]
)
"""What a change does to one row: key of the row as `key_text`, kind and sequence of the effect, and
for a patch the columns that it sets or removes. Their values are those of ``after``."""

_ARROW: Final = pa.list_(
    pa.struct(
        {
            "key": pa.string(),
            "kind": pa.string(),
            "sequence": pa.struct({"major": pa.int64(), "minor": pa.int64()}),
            "names": pa.list_(pa.string()),
        }
    )
)


def with_effects(rows: StructType) -> StructType:
    """Return the type of decoded rows that have `EFFECTS` as well."""
    return StructType([*rows.fields, StructField(EFFECTS, ArrayType(EFFECT))])


class _Effects(Decoder):
    """Adds the column `EFFECTS`, and keeps the messages of all rows, not of dead letters only."""

    all_have_values = True

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        found = super()._columns(batch, elements, places)
        values = batch.column("value")
        found["value"] = values if places is None else values.take(places.record)
        found[EFFECTS] = pa.array([*map(_of_change, elements.changes)], _ARROW)
        return found


class EffectsDecoder(_Effects, Decoder):
    """Decodes into rows of JSON text."""


class CheckedEffectsDecoder(_Effects, TypedDecoder):
    """Decodes into rows of JSON text, and refuses elements whose rows do not fit a type."""

    def _typed(self, change: ChangeRow, used: list[str]) -> ChangeRow:
        super()._typed(change, used)
        return change

    def _images(self, columns: dict[str, pa.Array], elements: Elements) -> None:
        """Leave the rows as they are."""


def _of_change(change: ChangeRow | None) -> list[dict[str, Any]] | None:
    if change is None or change.op not in CHANGE_OPS or change.key is None:
        return None
    return [*map(_of_effect, effects(Placed(change.change(), NOWHERE)))]


def _of_effect(effect: Effect) -> dict[str, Any]:
    sequence = effect.sequence
    return {
        "key": key_text(effect.key),
        "kind": effect.kind,
        "sequence": {"major": sequence[0], "minor": sequence[1]} if sequence else None,
        "names": [*effect.values] if effect.kind == "patch" else None,
    }
