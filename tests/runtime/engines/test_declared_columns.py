"""Any schema of Kafka Connect gives columns that hold any value under it."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.runtime.changes.connect.helpers import compiled
from tests.runtime.changes.connect.strategies import schemas, values
from tests.runtime.changes.lindorm import declared
from tests.runtime.codec.formats import thorough
from tests.runtime.engines.rows import lindorm_insert

from changewire.changes.connect.row_type import DECIMAL_DIGITS
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.declared import DeclaredColumns, columns_of_text
from changewire.engines.elements import one_record
from changewire.engines.typed.cells import CellError
from changewire.engines.typed.fit import row_cells, row_columns
from changewire.engines.typed.readings import TYPED_BY
from changewire.engines.typed.schemas import embedded_columns, schema_columns
from changewire.engines.typed.types import columns_of

LONG_DECIMAL = f"number of no more digits than decimal({DECIMAL_DIGITS},"
REFUSED = (LONG_DECIMAL, "key of a map", "map, whose keys differ")
"""What a column of Spark cannot hold: long decimals, null as a key, and a key that comes twice."""


@thorough
@given(st.data())
def test_declared_columns_hold_all_values(data: st.DataObject) -> None:
    """A value fits its column, in Arrow too, and comes back, but for what no column can hold."""
    schema = data.draw(schemas())
    value = data.draw(values(schema))
    assume(value is not None)
    (column,) = columns_of(schema_columns(declared(c=schema), DecodeOptions("lindorm-json")))
    used: list[str] = []
    held, refused = _held(column, compiled(schema).read(value, ""), used)
    assert used == []
    assert refused.startswith(REFUSED) or not refused
    (back,) = pa.array([held], column.type).to_pylist()
    assert _plain(back) == _plain(held)


def _batch(*messages: bytes) -> pa.RecordBatch:
    """Return records with the columns that `one_record` has, which differ only in their value."""
    (record,) = one_record().to_pylist()
    records = [{**record, "value": message} for message in messages]
    return pa.RecordBatch.from_pylist(records, one_record().schema)


def test_a_record_without_value_leaves_its_schema_to_the_next_message() -> None:
    """Later messages with the same schema have the columns that it declares."""
    columns = DeclaredColumns(DecodeOptions("lindorm-json"))
    fingerprints = pa.array(["same"])
    assert columns(fingerprints, one_record(), None).to_pylist() == [None]
    batch = _batch(lindorm_insert(declared(c="int64"), c=1))
    assert columns(fingerprints, batch, None).to_pylist() == ['{"c":"long"}']


def test_columns_that_rows_get_are_not_those_that_are_cached() -> None:
    """The columns of a text stay as they are when rows get them with more metadata."""
    batch = _batch(lindorm_insert(declared(cached="int64"), cached=1))
    columns = embedded_columns([batch], DecodeOptions("lindorm-json"))
    assert TYPED_BY.encode() in columns.field("cached").metadata
    (column,) = columns_of_text('{"cached":"long"}')["fields"]
    assert TYPED_BY not in column["metadata"]


def _held(column: pa.Field, value: Any, used: list[str]) -> tuple[Any, str]:
    """Return what a column holds of a value, or what it asks for instead."""
    try:
        text = msgspec.json.encode({column.name: value})
        return row_columns(text, row_cells([column]), used)[column.name], ""
    except CellError as error:
        return None, error.issue.expected


def _plain(value: Any) -> Any:
    """Return a value as it can be compared: maps and structs as pairs, without what is absent."""
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list) and all(isinstance(item, tuple) for item in value):
        return sorted((repr(k), _plain(v)) for k, v in value if v is not None)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return repr(value.isoformat() if hasattr(value, "isoformat") else value)
