"""Tables of delta-rs whose rows are columns of a type."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runtime.changes import dataworks
from tests.runtime.engines.delta.lake import Lake
from tests.runtime.tables.histories import (
    change,
    deliveries,
    eventful,
    histories,
    placed,
    steady,
    truncate,
)
from tests.runtime.tables.model import Content, tables_of

import changewire as cw
import changewire.delta as cwd
from changewire.tables import PositionedChange
from changewire.tables.metadata import COLUMN

ROW = pa.schema({"id": pa.int64(), "a": pa.string(), "b": pa.decimal128(38, 6), "c": pa.float64()})
HELD: dict[str, Any] = {"id": int, "a": str, "b": Decimal, "c": float}
"""What a column of `ROW` holds of a number, or of the text of one."""

FORMAT = "dataworks-json"
AT = datetime(2021, 5, 8, 1, 2, 3, 456000, timezone.utc)
AT_MS = 1620435723456


def typed_content(sent: Iterable[PositionedChange], *, truncates: bool = False) -> Content:
    """Return the rows of every table as columns of `ROW` have them."""
    return {
        table: {
            key: {name: HELD[name](one) for name, one in row.items() if one is not None}
            for key, row in rows.items()
        }
        for table, rows in tables_of(sent, truncates=truncates).items()
    }


@settings(steady, max_examples=25)
@given(histories(("full", "full", "patch", "keys")).flatmap(deliveries), st.integers(1, 5))
def test_tables_end_as_the_model_says(runs: list[list[PositionedChange]], batch_size: int) -> None:
    """Moves, deletes, patches and duplicates converge, in any order, runs and batches."""
    with TemporaryDirectory() as folder:
        lake = Lake(Path(folder), given=ROW)
        for run in [*runs, *runs]:
            lake.apply(run, batch_size)
        sent = [one for run in runs for one in run]
        found = {name: rows for name, rows in typed_content(sent).items() if rows}
        assert {name: rows for name, rows in lake.content().items() if rows} == found


def test_truncates(tmp_path: Path) -> None:
    """A truncate removes what is older, also of rows that patches made."""
    lake = Lake(tmp_path, applies_truncates=True, given=ROW)
    runs = [
        placed(
            change(key=1, a=1),
            change(key=2, sequence=9, a=1),
            change("update", 4, 4, image="patch", a=1, b=2),
            change("update", 4, 7, image="patch", c=1),
            change("update", 5, 4, image="patch", a=1),
        ),
        placed(truncate(5), change("update", 4, 8, image="patch", b=3), start=10),
        placed(change(key=1, sequence=4, a=3), change(key=6, sequence=6, a=1), start=20),
        placed(truncate(6), start=30),
    ]
    for run in runs:
        lake.apply(run)
    sent = [one for run in runs for one in run]
    assert lake.content() == typed_content(sent, truncates=True)


def test_halves_and_moves(tmp_path: Path) -> None:
    """Rows move from key to key, and what comes too late changes nothing."""
    lake = Lake(tmp_path, given=ROW)
    batches = eventful()
    for batch in batches:
        lake.apply(batch)
    assert lake.content() == typed_content(one for batch in batches for one in batch)


KEYS: dict[str, tuple[pa.DataType, list[Any], Any]] = {
    "decimals": (pa.decimal128(9, 2), [1, "1.0", "1.00"], Decimal("1.00")),
    "times": (
        pa.timestamp("us", "UTC"),
        ["2021-05-08T01:02:03.456Z", "2021-05-08T02:02:03.456+01:00"],
        AT,
    ),
    "bytes": (pa.binary(), ["AAE="], b"\x00\x01"),
    "null": (pa.int64(), [None], None),
    "text": (pa.string(), [5, "5"], "5"),
    "dates": (pa.date32(), ["2021-05-08"], AT.date()),
    "doubles": (pa.float64(), [1, 1.0], 1.0),
    "zeros": (pa.float64(), [0.0, -0.0], 0.0),
    "floats": (pa.float32(), [0.1], pa.scalar(0.1, pa.float32()).as_py()),
    "booleans": (pa.bool_(), [True], True),
    "bytes of integers": (pa.int8(), [-1], -1),
}
"""Type of a key, values that name one row, and what the table holds."""


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_a_type(name: str, tmp_path: Path) -> None:
    """Values of a key that are one value of its type name one row, in each run."""
    kind, values, held = KEYS[name]
    lake = Lake(tmp_path, given=pa.schema({"id": kind, "a": pa.int64()}))
    for number, value in enumerate([*values, values[0]]):
        lake.apply(of_key(value, number))
    (row,) = DeltaTable(str(lake.folder / "t")).to_pyarrow_table().to_pylist()
    assert (row["id"], row["a"]) == (held, len(values))
    lake.apply(of_key(values[-1], 99, op="delete"))
    assert lake.rows("t") == []


@pytest.mark.parametrize("kind", [pa.list_(pa.int8()), pa.struct({"x": pa.int8()})])
def test_keys_that_delta_rs_does_not_compare(kind: pa.DataType, tmp_path: Path) -> None:
    """Their changes are dead letters, and no table is made."""
    lake = Lake(tmp_path, given=pa.schema({"id": kind, "a": pa.int64()}))
    lake.apply(of_key(None, 0))
    (letter,) = lake.output("dead_letters")
    assert (letter["code"], letter["pointer"]) == ("key-mismatch", "/key")
    assert "which cannot be compared" in letter["message"]
    assert not lake.folder.exists()


def of_key(value: Any, number: int, op: str = "upsert") -> list[PositionedChange]:
    """Return a change of the row that a value names, in a list."""
    (one,) = placed(change(op, 0, number + 1, a=number), start=number)
    after = one.change.after and {**one.change.after, "id": value}
    named = msgspec.structs.replace(one.change, key={"id": value}, after=after)
    return [msgspec.structs.replace(one, change=named)]


def message(op: str, sequence: int, types: dict[str, str], **row: Any) -> bytes:
    """Return a message whose schema declares some columns."""
    sent = dataworks.message(op, types, **{"before" if op == "DELETE" else "after": row})
    parsed = msgspec.json.decode(cw.encode(sent))
    parsed["payload"]["sequenceId"] = str(sequence)
    parsed["schema"]["primaryKey"] = ["id"]
    return msgspec.json.encode(parsed)


def applied(root: Path, *messages: bytes, first: int = 0, **options: Any) -> cwd.Outcome:
    """Apply messages at consecutive offsets."""
    offsets = range(first, first + len(messages))
    columns = {"value": pa.array(messages, pa.binary()), "offset": pa.array(offsets, pa.int64())}
    return cwd.apply_changes(
        pa.table(columns),
        format=FORMAT,
        target=f"{root}/lake/table",
        output=f"{root}/out",
        checkpoint=f"{root}/checkpoint",
        **options,
    )


def table_rows(root: Path) -> list[dict[str, Any]]:
    """Return the rows of the table, by their keys."""
    table = DeltaTable(f"{root}/lake/table").to_pyarrow_table().drop_columns(COLUMN)
    return list(table.sort_by("id").to_pylist())


def letters(root: Path) -> list[tuple[Any, ...]]:
    """Return offset, code, pointer and text of the dead letters of the last run."""
    names = ("offset", "code", "pointer", "message")
    found = pq.read_table(f"{root}/out/dead_letters").sort_by("offset").select(names).to_pylist()
    return [tuple(row.values()) for row in found]


FEW = {"id": "LONG", "name": "STRING"}
MORE = {**FEW, "price": "DOUBLE", "at": "DATE", "data": "BYTES", 'a.b"c': "STRING"}


def test_columns_follow_the_schemas_in_the_messages(tmp_path: Path) -> None:
    """New columns are added; what a table cannot have or widen is a dead letter with its reason."""
    first = [message("INSERT", 1, FEW, id=1, name="a"), message("INSERT", 2, FEW, id=2, name="b")]
    applied(tmp_path, *first, rows="embedded")
    quoted = {'a.b"c': "x"}
    more = [
        message("INSERT", 3, MORE, id=1, name="c", price="1.5", at=AT_MS, data="AAE=", **quoted),
        message("INSERT", 4, {**MORE, "name": "LONG"}, id=3, name=7),
        message("INSERT", 5, {**MORE, "a b": "STRING"}, id=4, name="d"),
        message("DELETE", 6, FEW, id=2),
    ]
    outcome = applied(tmp_path, *more, first=2, rows="embedded")
    assert table_rows(tmp_path) == [
        {"id": 1, "name": "c", "price": 1.5, "at": AT, "data": b"\x00\x01", 'a.b"c': "x"}
    ]
    assert outcome.tables == {"applied": 2}
    text = "schema-mismatch: /after: column"
    assert letters(tmp_path) == [
        (3, "schema-mismatch", "/after", f"{text} 'name' is string, the message has bigint"),
        (
            4,
            "schema-mismatch",
            "/after",
            f"{text} 'a b' needs column mapping, which delta-rs does not write",
        ),
    ]


def test_a_strict_table_takes_no_columns(tmp_path: Path) -> None:
    """What brings a column is a dead letter, and the others of its batch are applied."""
    applied(tmp_path, message("INSERT", 1, FEW, id=1, name="a"), rows="embedded")
    both = [
        message("INSERT", 2, {**FEW, "more": "LONG"}, id=2, name="b", more=1),
        message("INSERT", 3, {"id": "LONG"}, id=3),
    ]
    strict: dict[str, Any] = {"rows": "embedded", "schema_evolution": "strict"}
    applied(tmp_path, *both, first=1, **strict)
    assert table_rows(tmp_path) == [{"id": 1, "name": "a"}, {"id": 3, "name": None}]
    ((offset, code, _, text),) = letters(tmp_path)
    assert (offset, code) == (1, "schema-mismatch")
    assert text.endswith("column 'more' bigint is not there")


def test_columns_of_the_user(tmp_path: Path) -> None:
    """A row that does not fit is a dead letter; an existing table gets columns that are new."""
    narrow = pa.schema([pa.field("name", pa.string(), metadata={"comment": "Of a customer."})])
    applied(tmp_path, message("INSERT", 1, FEW, id=1, name="a"), rows=narrow)
    wide = pa.schema({"name": pa.string(), "price": pa.decimal128(5, 2)})
    types = {**FEW, "price": "DOUBLE"}
    fits, misfits = (
        message("INSERT", 2 + i, types, id=2 + i, name="b", price=price)
        for i, price in enumerate(["9.90", "9.999"])
    )
    applied(tmp_path, fits, misfits, first=1, rows=wide)
    assert table_rows(tmp_path) == [
        {"id": "1", "name": "a", "price": None},
        {"id": "2", "name": "b", "price": Decimal("9.90")},
    ]
    ((offset, code, pointer, _),) = letters(tmp_path)
    assert (offset, code, pointer) == (2, "wrong-type", "/after/price")
    fields = {field.name: field for field in DeltaTable(f"{tmp_path}/lake/table").schema().fields}
    assert fields["name"].metadata == {"comment": "Of a customer."}


def test_a_delete_that_comes_first_makes_no_table(tmp_path: Path) -> None:
    """Its tombstone holds for the table that comes, whose columns nothing has named before."""
    bare = message("DELETE", 5, {}, id=1)
    applied(tmp_path, bare, rows="embedded")
    assert not (tmp_path / "lake" / "table").exists()
    late = [message("INSERT", 4 + i, FEW, id=1 + i, name="a") for i in range(2)]
    applied(tmp_path, *late, first=1, rows="embedded")
    assert [row["id"] for row in table_rows(tmp_path)] == [2]


MISFITS: dict[str, tuple[Any, str]] = {
    "another type": (pa.schema({"name": pa.int64()}), "column 'name' is string, the message has"),
    "case": (pa.schema({"Name": pa.string()}), "column 'Name' differs from 'name' in case only"),
    "metadata": (pa.schema({COLUMN: pa.string()}), "has the name of the table's own column"),
    "text": ("json", "a column key of type string is needed, and the table lacks it"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_columns_that_do_not_fit_a_table_end_the_run(name: str, tmp_path: Path) -> None:
    """A sentence says which, and the table stays as it was."""
    applied(tmp_path, message("INSERT", 1, FEW, id=1, name="a"), rows="embedded")
    before = table_rows(tmp_path)
    rows, why = MISFITS[name]
    with pytest.raises(cwd.OutputError, match=why):
        applied(tmp_path, message("INSERT", 2, {"id": "LONG"}, id=1), first=1, rows=rows)
    assert table_rows(tmp_path) == before
