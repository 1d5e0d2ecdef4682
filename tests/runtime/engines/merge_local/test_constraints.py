"""Tables of others without Spark: constraints, columns of their own, and what delta-rs lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, Schema, write_deltalake
from deltalake.schema import PrimitiveType
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.tables.histories import change, placed

from changewire.engines.applied import KEYS, property_text
from changewire.engines.merge.table import STATE

AMOUNTS = {"id": "LONG", "v": "STRING", "amount": "LONG"}
POSITIVE = {"amount_is_positive": "amount > 0"}


def sent(sequence: int, key: int, amount: Any, *, op: str = "INSERT", table: str = "t") -> bytes:
    """Return a message about a row with an amount."""
    row = {"id": key, "v": f"v{sequence}", "amount": amount}
    return message(op, sequence, row, table=table, types=AMOUNTS)


def made(
    lake: Lake,
    *fields: Field,
    rows: dict[str, list[Any]] | None = None,
    partitions: tuple[str, ...] = (),
    properties: dict[str, str] | None = None,
    keys: tuple[str, ...] = ("id",),
) -> str:
    """Make the table ``t`` as another program would, ready to be adopted; return its path."""
    path = f"{lake.root}/tables/t"
    state = Schema.from_arrow(pa.schema([STATE])).fields
    DeltaTable.create(
        path,
        Schema([*fields, *state]),
        partition_by=[*partitions],
        configuration={KEYS: property_text([*keys]), **(properties or {})},
        raise_if_key_not_exists=False,
    )
    if rows is not None:
        schema = pa.schema(DeltaTable(path).schema().to_arrow())
        found = pa.table({one.name: rows.get(one.name, [None]) for one in schema}, schema)
        write_deltalake(path, found, mode="append")
    return path


def field(name: str, kind: str, *, nullable: bool = True, **metadata: Any) -> Field:
    """Return a column."""
    return Field(name, PrimitiveType(kind), nullable=nullable, metadata=metadata)


def values(lake: Lake, *names: str, table: str = "t") -> list[tuple[Any, ...]]:
    """Return some columns of the rows of a table that are not deleted, sorted."""
    rows = [one for one in lake.rows(table) if not (one["_changewire"] or {}).get("deleted")]
    return sorted((tuple(one[name] for name in names) for one in rows), key=repr)


def refusals(lake: Lake) -> list[tuple[int, str]]:
    """Return offset and message of each refusal in the log."""
    return sorted((row["offset"], row["message"]) for row in lake.log("refused"))


def of(name: str) -> str:
    """Return the message of a change that a constraint refuses."""
    text = f"the table has the constraint {name}, which this change does not satisfy"
    return f"constraint: /after: {text}"


def test_a_change_that_breaks_a_check_is_refused_alone(tmp_path: Path) -> None:
    """The rest of its batch is in the table, other tables and the log go on, and runs add up."""
    lake = Lake(tmp_path)
    lake.apply_records(records(sent(10, 1, 10)), row_schema="embedded")
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint(POSITIVE)
    second = records(sent(11, 2, 20), sent(12, 5, -5), sent(14, 9, 9, table="u"), start=1)
    outcome = lake.apply_records(second, row_schema="embedded")
    assert outcome.tables == {"inserted": 2, "refused": 1}
    assert values(lake, "id", "amount") == [(1, 10), (2, 20)]
    assert values(lake, "id", "amount", table="u") == [(9, 9)]
    assert refusals(lake) == [(2, of("amount_is_positive"))]
    assert len(lake.log("change")) == len(second) + 1
    assert lake.apply_records(second, row_schema="embedded").tables == {}
    lake.apply_records(records(sent(15, 5, 5), start=9), row_schema="embedded")
    assert values(lake, "id", "amount") == [(1, 10), (2, 20), (5, 5)]


def test_what_comes_before_and_after_a_refused_change_is_applied(tmp_path: Path) -> None:
    """Batches of any size leave the same row and the same refusals."""
    sends = [
        *(sent(number, 1, amount) for number, amount in enumerate((5, -1, -2, 6, -3), 10)),
        *(sent(number, 2, amount) for number, amount in enumerate((-1, -2), 20)),
        *(sent(number, 3, amount) for number, amount in enumerate((7, -1), 30)),
        sent(40, 3, 7, op="DELETE"),
        sent(41, 3, -1),
    ]
    found = []
    for size in (1, 3, 100):
        lake = Lake(tmp_path / str(size))
        made(lake, field("id", "long"), field("v", "string"), field("amount", "long"))
        DeltaTable(f"{lake.root}/tables/t").alter.add_constraint(POSITIVE)
        lake.apply_records(records(*sends), row_schema="embedded", batch_size=size)
        assert values(lake, "id", "v", "amount") == [(1, "v13", 6)]
        found.append([offset for offset, _ in refusals(lake)])
    assert found == [[1, 2, 4, 5, 6, 8, 10]] * 3


@pytest.mark.parametrize("size", [1, 100])
def test_a_patch_is_refused_by_the_row_that_it_would_leave(tmp_path: Path, size: int) -> None:
    """Patches of other columns of the row are applied, and a later good one too."""
    lake = Lake(tmp_path)
    row = pa.schema([("id", pa.int64()), ("low", pa.int64()), ("high", pa.int64())])
    kinds = dict.fromkeys(row.names, "LONG")
    lake.apply_records(
        records(message("INSERT", 1, {"id": 1, "low": 1, "high": 5}, types=kinds)), row_schema=row
    )
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"ordered": "low <= high"})
    patches = [{"low": 9}, {"high": 6}, {"low": 6}, {"high": 2}]
    sends = [
        message("UPDATE_AFTER", number, {"id": 1, **patch}, types=kinds)
        for number, patch in enumerate(patches, 2)
    ]
    lake.apply_records(
        records(*sends, start=10), row_schema=row, row_image="patch", batch_size=size
    )
    assert values(lake, "id", "low", "high") == [(1, 6, 6)]
    assert refusals(lake) == [(10, of("ordered")), (13, of("ordered"))]


def test_a_late_change_that_would_break_a_constraint_does_nothing(tmp_path: Path) -> None:
    """It is older than its row, so it is not refused, also beside one that is."""
    lake = Lake(tmp_path)
    made(lake, field("id", "long"), field("v", "string"), field("amount", "long"))
    DeltaTable(f"{lake.root}/tables/t").alter.add_constraint(POSITIVE)
    lake.apply_records(records(sent(10, 1, 10)), row_schema="embedded")
    late = records(sent(9, 1, -9), sent(11, 2, -2), sent(12, 3, 3), start=10)
    assert lake.apply_records(late, row_schema="embedded").tables == {"inserted": 1, "refused": 1}
    assert values(lake, "id", "amount") == [(1, 10), (3, 3)]
    assert refusals(lake) == [(11, of("amount_is_positive"))]


@pytest.mark.parametrize(("value", "code"), [(-1, "constraint"), ("text", "wrong-type")])
def test_a_row_whose_move_is_refused_stays(tmp_path: Path, value: Any, code: str) -> None:
    """A change is applied as a whole: its old key is not deleted if the new row is refused."""
    lake = Lake(tmp_path)
    row = pa.schema([("id", pa.int64()), ("a", pa.int64())])
    lake.apply(placed(change(key=1, a=1), change(key=3, a=3)), row_schema=row)
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"positive": "a > 0"})
    moves = [
        change("update", new, 2, old=old, before={"id": old}, a=a)
        for old, new, a in ((1, 2, value), (3, 4, 4))
    ]
    lake.apply(placed(*moves, start=10), row_schema=row)
    assert values(lake, "id", "a") == [(1, 1), (4, 4)]
    assert [(one["offset"], one["code"]) for one in lake.log("refused")] == [(10, code)]


def test_rows_of_json_text_have_constraints_too(tmp_path: Path) -> None:
    """A condition on their text refuses a change, with its name."""
    lake = Lake(tmp_path)
    lake.apply_records(records(sent(10, 1, 10)))
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"no_five": "row NOT LIKE '%:5}'"})
    lake.apply_records(records(sent(11, 1, 5), sent(12, 2, 4), start=1))
    assert lake.json_rows() == {
        1: {"id": 1, "v": "v10", "amount": 10},
        2: {"id": 2, "v": "v12", "amount": 4},
    }
    assert refusals(lake) == [(1, of("no_five"))]


def test_a_condition_that_fails_for_a_value_refuses_its_change(tmp_path: Path) -> None:
    """A division by zero is no error of the run: the other rows are merged."""
    lake = Lake(tmp_path)
    lake.apply_records(records(sent(10, 1, 10)), row_schema="embedded")
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"share": "100 / amount > 1"})
    sends = [sent(11 + number, number, number % 7) for number in range(20)]
    lake.apply_records(records(*sends, start=10), row_schema="embedded")
    keys = sorted(key for key, _ in values(lake, "id", "amount"))
    assert keys == [number for number in range(20) if number % 7]
    assert refusals(lake) == [(10 + number, of("share")) for number in (0, 7, 14)]
