"""Rows as columns of a type, and the mutations of a batch fitted to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.spark.apply.failures import (
    FAILURE,
    FAILURE_FIELD,
    ROW_ID_FIELD,
)
from changewire.engines.spark.apply.images import image_type, is_image_of, row_of_image
from changewire.engines.spark.apply.shape import CONTENT, NAMED, JsonShape
from changewire.engines.spark.arrow_types import arrow_type, row_columns
from changewire.engines.typed.fitted import STEP, built, fitted_texts, key_cells, row_cells
from changewire.engines.typed.images import IMAGE
from changewire.tables.metadata import COLUMN
from changewire.tables.mutations import DELETE
from changewire.tables.routing import Refusal
from changewire_messages.tables.spark import ORDER_FIELDS
from changewire_messages.tables.spark import ROW_METADATA as METADATA
from changewire_messages.tables.spark import ROW_MUTATION as EFFECT

EFFECT_FIELDS: Final = [
    ROW_ID_FIELD,
    *(field for field in EFFECT.fields if field.name != "sequence"),
    *ORDER_FIELDS,
    FAILURE_FIELD,
]
"""Columns of effects, but for the row."""


class TypedShape:
    """Rows that are columns of a type; columns of the key that it lacks are text.

    It has the attributes of `JsonShape`.
    """

    compared = "after"
    is_typed = True

    def __init__(self, row: StructType, keys: Sequence[str]) -> None:
        """Remember the type of rows and the columns of their key."""
        self._row_json = row.json()
        self.keys = tuple(keys)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given; the worker compiles it again."""
        return {"_row_json": self._row_json, "keys": self.keys}

    @cached_property
    def content_type(self) -> StructType:
        """The type of rows."""
        return StructType.fromJson(json.loads(self._row_json))

    @property
    def named_type(self) -> StructType:
        """The columns of the key."""
        row = self.content_type
        return StructType(
            [
                row[name] if name in row.names else StructField(name, StringType())
                for name in self.keys
            ]
        )

    @property
    def columns(self) -> StructType:
        """Columns of the table."""
        row = self.content_type
        keys = [field for field in self.named_type.fields if field.name not in row.names]
        return StructType([*keys, *row.fields, StructField(COLUMN, METADATA)])

    def fitted(self, effects: DataFrame, *, is_known: bool = False) -> DataFrame:
        """Return effects with the columns of their key and row, or `FAILURE`.

        Args:
            effects: Effects; those that have `IMAGE` need no fit.
            is_known: Whether all of them have it.
        """
        names = [*(field.name for field in EFFECT_FIELDS), "after"]
        given = image_type(effects.schema)
        if given is None or not is_image_of(given, self.content_type, self.keys):
            return self._fitted_in_python(effects.select(*names))
        image = F.col(IMAGE)
        row = row_of_image(given, self.content_type)
        known = effects.where(image.isNotNull()).select(
            *names,
            F.struct(*(image[name].alias(name) for name in self.keys)).alias(NAMED),
            F.when(F.col("kind") != DELETE, row).alias(CONTENT),
        )
        if is_known:
            return known
        others = effects.where(image.isNull()).select(*names)
        return known.unionByName(self._fitted_in_python(others))

    def _fitted_in_python(self, effects: DataFrame) -> DataFrame:
        """Return effects as `fit` yields them; computed once."""
        return effects.mapInArrow(self.fit, self._fitted_type).localCheckpoint(eager=False)

    def fit(self, effects: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the same of effects that are not in Spark.

        The key's text is written anew from its columns, so that two keys have one text if and only
        if they name one row of the table.
        """
        schema = pa.schema([*arrow_type(self._fitted_type)])
        of_key = key_cells(row_columns(self.named_type))
        of_row = row_cells(row_columns(self.content_type))
        for batch in effects:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            texts = zip(columns["key"].to_pylist(), columns["after"].to_pylist(), strict=True)
            found = [fitted_texts(key, after, of_key, of_row) for key, after in texts]
            earlier = columns[FAILURE].to_pylist()
            failures = [
                one.failure if why is None else Refusal(**why)
                for why, one in zip(earlier, found, strict=True)
            ]
            for name in (NAMED, CONTENT):
                values = [getattr(one, name) for one in found]
                columns[name] = built(values, schema.field(name).type, failures, STEP)
            columns["key"] = pa.array([one.key for one in found], pa.string())
            reasons = [why and why._asdict() for why in failures]
            columns[FAILURE] = pa.array(reasons, schema.field(FAILURE).type)
            arrays = [columns[name].cast(schema.field(name).type) for name in schema.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    @property
    def _fitted_type(self) -> StructType:
        after = StructField("after", StringType())
        named = StructField(NAMED, self.named_type)
        return StructType([*EFFECT_FIELDS, after, named, StructField(CONTENT, self.content_type)])

    def unpack(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that are not NULL."""
        return {name: value for name, value in content.items() if value is not None}

    def pack(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns; those of the key are not taken from here."""
        del key
        return dict(values)

    def key_text(self, row: Column) -> Column:
        """Return the columns of the key as JSON text."""
        return F.to_json(F.struct(*(row[name] for name in self.keys)))

    def row_columns(self, named: Column, content: Column) -> dict[str, Column]:
        """Return the columns of a row; those of its key are the key's."""
        row = {name: content[name] for name in self.content_type.names}
        return {**row, **{name: named[name] for name in self.keys}}

    def content(self, row: Column) -> Column:
        """Return the columns of the type."""
        return F.struct(*(row[name].alias(name) for name in self.content_type.names))


Shape: TypeAlias = JsonShape | TypedShape
"""How a table has its rows."""
