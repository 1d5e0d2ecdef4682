"""Rows of JSON text as tables have them: the columns of the key first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from changewire.engines.json_rows import KEY, unpacked
from changewire.engines.json_rows import packed as packed_row
from changewire.engines.spark.merge.mutations import CONTENT, NAMED
from changewire.engines.spark.merge.shapes import Shape


def packed(rows: DataFrame, shape: Shape) -> DataFrame:
    """Return rows whose content is as the table has it: JSON text is written anew."""
    return rows if shape.is_typed else rows.mapInArrow(_packed, rows.schema)


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        keys = batch.column(NAMED).field(KEY).to_pylist()
        texts = zip(keys, batch.column(CONTENT).to_pylist(), strict=True)
        found = [None if text is None else packed_row(key, unpacked(text)) for key, text in texts]
        place = batch.schema.get_field_index(CONTENT)
        yield batch.set_column(place, batch.schema.field(place), pa.array(found, pa.string()))
