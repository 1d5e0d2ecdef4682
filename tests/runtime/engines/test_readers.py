"""What pandas, Polars and DuckDB make of typed rows: the very values, in types that are listed."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.runtime.changes import lindorm

import changewire as cw
import changewire.arrow as cwa

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "without-spark.md"
CONNECT = "org.apache.kafka.connect.data."
TYPES: dict[str, Any] = {
    "id": "int64",
    "ratio": "double",
    "ok": "boolean",
    "name": "string",
    "photo": "bytes",
    "price": {"type": "bytes", "name": f"{CONNECT}Decimal", "parameters": {"scale": "2"}},
    "day": {"type": "int32", "name": f"{CONNECT}Date"},
    "at": {"type": "int64", "name": f"{CONNECT}Timestamp"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "sizes": {"type": "map", "keys": {"type": "string"}, "values": {"type": "int64"}},
    "place": {
        "type": "struct",
        "fields": [{"field": "x", "type": "double"}, {"field": "y", "type": "double"}],
    },
}
UNSCALED = 12345678901234567890
ROW: dict[str, Any] = {
    "id": 2**63 - 1,
    "ratio": 0.1,
    "ok": True,
    "name": "é",
    "photo": b"\x00\xff",
    "price": Decimal("123456789012345678.90"),
    "day": date(2020, 1, 1),
    "clock": datetime(2016, 6, 9, 16, 56, 51, 807000),  # noqa: DTZ001 - what the type holds
    "at": datetime(2016, 6, 9, 16, 56, 51, 807000, timezone.utc),
    "tags": ["a", "b"],
    "sizes": {"a": 2**53 + 1},
    "place": {"x": 1.5, "y": -2.5},
}


@pytest.fixture(scope="module")
def typed() -> pa.Table:
    """The columns of one typed row, of each type that a schema in a message can say.

    A time without a zone, which no schema says, is beside them.
    """
    wire = {
        **{name: value for name, value in ROW.items() if name in TYPES},
        "photo": b64encode(ROW["photo"]).decode(),
        "price": b64encode(UNSCALED.to_bytes(9, "big")).decode(),
        "day": 18262,
        "at": 1465491411807,
    }
    schema = lindorm.declared(**TYPES)
    message = cw.encode(lindorm.message("c", schema, after=wire))
    rows, clocks = (
        after(message, kind) for kind in (schema, pa.schema({"at": pa.timestamp("us")}))
    )
    columns = {field.name: rows.field(field.name) for field in rows.type}
    return pa.table({**columns, "clock": clocks.field("at")}).select([*ROW])


def after(message: bytes, kind: Any) -> pa.StructArray:
    """Return the row of a message as columns of a type."""
    decoded = cwa.decode(message, format="lindorm-json", key_columns=["id"], row_schema=kind)
    (rows,) = decoded.changes.read_all().column("after").chunks
    return rows


def of_pandas(frame: Any) -> dict[str, Any]:
    """Return a row as Python values; pandas keeps arrays of numpy and pairs."""
    (row,) = frame.to_dict("records")
    return {**row, "tags": [*row["tags"]], "sizes": dict(row["sizes"])}


def in_duckdb(table: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the row and the names of its types."""
    relation: Any = duckdb.from_arrow(table)
    (row,) = relation.fetchall()
    return dict(zip(relation.columns, row, strict=True)), [*map(str, relation.types)]


def in_pandas(table: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the row and the names of its types."""
    frame = table.to_pandas()
    return of_pandas(frame), [*map(str, frame.dtypes)]


def in_polars(table: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the row and the names of its types."""
    frame = pl.DataFrame(table)
    row = frame.row(0, named=True)
    return {**row, "sizes": dict(row["sizes"])}, [*map(str, frame.dtypes)]


READERS: dict[str, Callable[[Any], tuple[dict[str, Any], list[str]]]] = {
    "pandas": in_pandas,
    "Polars": in_polars,
    "DuckDB": in_duckdb,
}


@pytest.mark.parametrize("name", READERS)
def test_values_are_the_very_ones(typed: pa.Table, name: str) -> None:
    """Big integers, decimals, bytes, times and nested values come out as they went in."""
    row, _ = READERS[name](typed)
    assert row == ROW
    assert isinstance(row["price"], Decimal)


def test_the_page_lists_the_types(typed: pa.Table) -> None:
    """The table of the page has the types that each tool shows, in the order of the columns."""
    row = r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$"
    listed = re.findall(row, PAGE.read_text("utf-8"), re.MULTILINE)
    kinds = [*map(str, typed.schema.types)]
    found = [kinds, *(READERS[name](typed)[1] for name in READERS)]
    assert listed[0] == ("Arrow", *READERS)
    assert listed[1:] == [*zip(*found, strict=True)]


def test_parquet_gives_the_same(typed: pa.Table, tmp_path: Path) -> None:
    """A file of typed rows reads as the rows in memory do."""
    path = tmp_path / "rows.parquet"
    pq.write_table(typed, path)
    assert of_pandas(pd.read_parquet(path)) == ROW
    assert in_polars(pl.read_parquet(path))[0] == ROW
    relation: Any = duckdb.read_parquet(str(path))
    assert dict(zip(relation.columns, relation.fetchall()[0], strict=True)) == ROW


def test_pandas_keeps_integers_beside_null_where_asked() -> None:
    """Types of Arrow keep a big sequence that a float beside NULL would round."""
    table = pa.table({"offset": pa.array([2**53 + 1, None])})
    assert int(table.to_pandas()["offset"][0]) == 2**53
    assert table.to_pandas(types_mapper=pd.ArrowDtype)["offset"][0] == 2**53 + 1
