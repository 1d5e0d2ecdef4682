"""Effects fitted to the columns of a table: each value is put into its column once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
from pyspark.sql.types import StringType, StructField, StructType

from changewire.codec.exact import exact_number
from changewire.engines.spark.apply.effects import EFFECT
from changewire.engines.spark.apply.failures import (
    FAILURE,
    FAILURE_FIELD,
    ROW_ID_FIELD,
    built,
)
from changewire.engines.spark.apply.metadata import ORDER_FIELDS
from changewire.engines.spark.apply.shape import CONTENT, NAMED, Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.scalar_cells import Cell, CellError
from changewire.tables.keys import key_text
from changewire.tables.routing import Refusal, apply_failed
from changewire_messages.support import pointer_token

_PARSE: Final = msgspec.json.Decoder(dict[str, Any], float_hook=exact_number).decode
_STEP: Final = "fitting the row to its table"

EFFECT_FIELDS: Final = [
    ROW_ID_FIELD,
    *(field for field in EFFECT.fields if field.name != "sequence"),
    *ORDER_FIELDS,
    FAILURE_FIELD,
]
"""Columns of effects, but for the row."""


def fitted_type(shape: Shape) -> StructType:
    """Return the columns of fitted effects."""
    return StructType(
        [
            *EFFECT_FIELDS,
            StructField("after", StringType()),
            StructField(NAMED, shape.named_type),
            StructField(CONTENT, shape.content_type),
        ]
    )


Cells = Mapping[str, Cell]
"""What fits values into columns, by their names."""


class _Fitted(NamedTuple):
    key: str
    named: dict[str, Any] | None
    content: dict[str, Any] | None
    failure: dict[str, str] | None


class Fit:
    """Fits effects to the columns of a table; what `mapInArrow` takes. It pickles.

    The key's text is written anew from its columns, so that two keys have one text if and only if
    they name one row of the table.
    """

    def __init__(self, shape: Shape, cells: Callable[[], tuple[Cells, Cells]]) -> None:
        """Remember the columns.

        Args:
            shape: How the table has its rows.
            cells: Returns what fits the columns of the key, and those of the row.
        """
        self._shape = shape
        self._cells = cells

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the effects, with their key and row as columns."""
        kind = fitted_type(self._shape)
        schema = pa.schema([*arrow_type(kind)])
        of_key, of_row = self._cells()
        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            texts = zip(columns["key"].to_pylist(), columns["after"].to_pylist(), strict=True)
            found = [_fitted(key, after, of_key, of_row) for key, after in texts]
            earlier = columns[FAILURE].to_pylist()
            failures = [why or one.failure for why, one in zip(earlier, found, strict=True)]
            for name in (NAMED, CONTENT):
                values = [getattr(one, name) for one in found]
                columns[name] = built(values, schema.field(name).type, failures, _STEP)
            columns["key"] = pa.array([one.key for one in found], pa.string())
            columns[FAILURE] = pa.array(failures, schema.field(FAILURE).type)
            arrays = [columns[name].cast(schema.field(name).type) for name in schema.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _fitted(key: str, after: str | None, of_key: Cells, of_row: Cells) -> _Fitted:
    """Return the columns of an effect, or why it does not fit."""
    named = content = failure = None
    pointer = "/key"
    try:
        named = _key_columns(key, of_key)
        key = key_text(named)
        pointer = "/after"
        content = None if after is None else _row_columns(after, of_row)
    except CellError as error:
        code = "schema-mismatch" if pointer == "/key" else error.issue.code
        expected = f"expected {error.issue.expected}, found {error.issue.actual_type}"
        failure = Refusal(code, f"{pointer}{error.issue.place}", expected)._asdict()
    except Exception as error:  # noqa: BLE001 - one row must not end the stream
        failure = apply_failed(error, pointer, _STEP)._asdict()
    return _Fitted(key, named, content, failure)


def _key_columns(text: str, cells: Cells) -> dict[str, Any]:
    """Return the columns of a key.

    Raises:
        CellError: A value does not fit its column, or the key lacks one.
    """
    found = _PARSE(text)
    for name in found.keys() ^ cells.keys():
        raise CellError(f"/{pointer_token(name)}", "a column of the table's key", msgspec.UNSET)
    return {
        name: None if found[name] is None else cell(found[name], f"/{pointer_token(name)}", [])
        for name, cell in cells.items()
    }


def _row_columns(text: str, cells: Cells) -> dict[str, Any]:
    """Return the columns of a row; those that the table lacks stay in the change log.

    Raises:
        CellError: A value does not fit its column.
    """
    return {
        name: None if value is None else cells[name](value, f"/{pointer_token(name)}", [])
        for name, value in _PARSE(text).items()
        if name in cells
    }
