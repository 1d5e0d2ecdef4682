"""Tables without Spark that a rebuild gives other columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType
from tests.runtime.engines.auto_cases import comparable, flat
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.engines.rebuild_cases import (
    AUTO,
    FIRST,
    FORMAT,
    LATER,
    LATER_TYPED,
    RESCUED,
    SECOND,
    TYPE,
    TYPED,
    without_user_key,
)

import changewire.arrow as cwa
import changewire.delta as cwd
from changewire.engines.errors import OutputError
from changewire.tables.row_state import COLUMN


def sent(lake: Lake, start: int, batch: Sequence[Any], **options: Any) -> Any:
    """Apply messages of Aerospike."""
    values = (json.dumps(one).encode() for one in batch)
    return lake.apply_records(records(*values, start=start), format=FORMAT, **options)


def users(lake: Lake) -> DeltaTable:
    """Return the table of these messages."""
    return DeltaTable(f"{lake.root}/tables/users")


def rows_in(lake: Lake) -> list[tuple[dict[str, Any], Any]]:
    """Return its rows, and what is rescued of each."""
    found = users(lake).to_pyarrow_table().sort_by("aerospike_digest")
    return [comparable(one) for one in found.to_pylist()]


def rebuilt(lake: Lake, **options: Any) -> None:
    """Rebuild the table in one commit that replaces rows, and see that it is as its log says."""
    before = users(lake).version()
    cwd.rebuild(**lake.places, **options)
    operations = [one["operation"] for one in users(lake).history(users(lake).version() - before)]
    assert [one for one in operations if one != "SET TBLPROPERTIES"] == ["WRITE"]
    assert cwd.verify(**lake.places).to_pylist() == []


def made_earlier(table: DeltaTable) -> None:
    """Take the field from the state of rows that tables of an earlier version lack."""
    rows = table.to_pyarrow_table()
    state = rows[COLUMN].combine_chunks()
    names = [one.name for one in state.type if one.name != "rescued"]
    old = pa.StructArray.from_arrays([state.field(name) for name in names], names)
    rows = rows.set_column(rows.column_names.index(COLUMN), COLUMN, old)
    write_deltalake(table, rows, mode="overwrite", schema_mode="overwrite")


def test_text_becomes_columns_and_columns_text(tmp_path: Path) -> None:
    """Rows are as if the table had always had them so, and runs with this `row_schema` go on."""
    lake = Lake(tmp_path)
    sent(lake, 0, FIRST)
    sent(lake, 2, SECOND)
    as_text = sorted(lake.rows("users"), key=lambda one: one["key"])
    rebuilt(lake, row_schema="auto")
    assert rows_in(lake) == AUTO
    rebuilt(lake, row_schema="json")
    assert sorted(lake.rows("users"), key=lambda one: one["key"]) == as_text
    rebuilt(lake, row_schema={"users": "auto", "*": "json"})
    assert sent(lake, 4, LATER, row_schema="auto").tables == {"rescued_values": 1, "updated": 1}
    assert rows_in(lake)[1][1] == {"price": "9.99"}
    rebuilt(lake, row_schema="json")
    assert sent(lake, 5, [flat(0, 1, a=1)]).tables == {"inserted": 1}
    assert len(lake.rows("users")) == len(as_text) + 1


@pytest.mark.parametrize(
    ("made", "later", "sentence"),
    [
        ("json", "auto", "its rows are JSON text, and row_schema asks for columns; `rebuild` with"),
        ("json", TYPE, "its rows are JSON text, and row_schema asks for columns; `rebuild` with"),
        ("auto", "json", "its rows are columns, and row_schema asks for JSON text; `rebuild` with"),
        ("auto", TYPE, r"column 'a' is bigint, .*; `rebuild` gives the table the columns of"),
    ],
    ids=str,
)
def test_a_run_with_another_row_schema(
    tmp_path: Path, made: Any, later: Any, sentence: str
) -> None:
    """It changes nothing and names `rebuild`, after which it goes on."""
    lake = Lake(tmp_path)
    sent(lake, 0, FIRST, row_schema=made)
    before = lake.rows("users")
    with pytest.raises(OutputError, match=sentence):
        sent(lake, 2, SECOND, row_schema=later)
    assert lake.rows("users") == before
    cwd.rebuild(**lake.places, row_schema=later)
    sent(lake, 4, LATER, row_schema=later)
    assert cwd.verify(**lake.places).to_pylist() == []


def test_fields_in_another_order_are_the_columns_there(tmp_path: Path) -> None:
    """Delta-rs does not change the order of fields: a row has its values by their names."""
    lake = Lake(tmp_path)
    a, b = ((name, pa.int64()) for name in "ab")
    here, other = (pa.schema({"s": pa.struct(fields)}) for fields in ([a, b], [b, a]))
    sent(lake, 0, [flat(1, 1, s={"a": 1, "b": 2})], row_schema=here)
    sent(lake, 1, [flat(2, 1, s={"a": 3, "b": 4})], row_schema=other)
    rebuilt(lake, row_schema=other)
    sent(lake, 2, [flat(3, 1, s={"b": 6, "a": 5})], row_schema=other)
    found = users(lake).to_pyarrow_table()["s"].to_pylist()
    assert sorted(one["a"] for one in found) == [1, 3, 5]
    assert all(one["b"] == one["a"] + 1 for one in found)
    assert cwd.verify(**lake.places).to_pylist() == []


def test_rescued_values_are_in_columns_of_a_type(tmp_path: Path) -> None:
    """Values that did not fit are in the columns of a type that has them; later runs go on."""
    lake = Lake(tmp_path)
    sent(lake, 0, FIRST, row_schema="auto")
    sent(lake, 2, SECOND, row_schema="auto")
    assert rows_in(lake) == RESCUED
    rebuilt(lake, row_schema=TYPE)
    assert without_user_key(rows_in(lake)) == TYPED
    sent(lake, 4, LATER, row_schema=TYPE)
    assert without_user_key(rows_in(lake)) == LATER_TYPED
    assert cwd.verify(**lake.places).to_pylist() == []
    cwd.rebuild(**lake.places, row_schema="auto", misfits="refuse", where='"offset" < 2')
    assert [(one["a"], one["price"]) for one, _ in rows_in(lake)] == [(5, 1), (6, 2)]


def test_refused_values_are_replayed_into_their_columns(tmp_path: Path) -> None:
    """A rebuild by `auto` counts the types of refused changes, and a replay applies these."""
    lake = Lake(tmp_path)
    how: dict[str, Any] = {"row_schema": "auto", "misfits": "refuse"}
    sent(lake, 0, FIRST, **how)
    sent(lake, 2, [flat(1, 2, a=5.5)], **how)
    rebuilt(lake, **how)
    assert [one["a"] for one, _ in rows_in(lake)] == [5.0, 6.0]
    cwd.replay(**lake.places, format=FORMAT, **how)
    assert [one["a"] for one, _ in rows_in(lake)] == [5.5, 6.0]
    assert len(cwa.refused(lake.places["log"])) == 0
    assert cwd.verify(**lake.places).to_pylist() == []


def test_what_does_not_fit_stops_a_rebuild(tmp_path: Path) -> None:
    """The table is as it was: no row is left out, unless its value is kept as rescued."""
    lake = Lake(tmp_path)
    sent(lake, 0, [*FIRST, flat(3, 1, a="text")])
    before = lake.rows("users")
    misfit = r"users: 1 changes .* such as wrong-type: /after/a: .*was \(misfits='rescue' keeps"
    with pytest.raises(OutputError, match=misfit):
        cwd.rebuild(**lake.places, row_schema=TYPE)
    for misfits in ("refuse", "rescue"):  # neither keeps a key
        with pytest.raises(OutputError, match=r"such as schema-mismatch: /key/.*as it was$"):
            cwd.rebuild(
                **lake.places,
                row_schema=pa.schema([("aerospike_digest", pa.int64())]),
                misfits=misfits,
            )
    with pytest.raises(OutputError, match=r"users: column 'aerospike_digest' is array<bigint>"):
        cwd.rebuild(
            **lake.places,
            row_schema=pa.schema([("aerospike_digest", pa.list_(pa.int64()))]),
        )
    with pytest.raises(ValueError, match="`misfits` is for `row_schema`"):
        cwd.rebuild(**lake.places, misfits="rescue")
    assert lake.rows("users") == before
    rebuilt(lake, row_schema=TYPE, misfits="rescue")
    assert rows_in(lake)[2][1] == {"a": "text"}


@pytest.mark.parametrize("row_schema", ["auto", TYPE], ids=["auto", "typed"])
def test_rescued_rows_stay_if_later_misfits_are_refused(tmp_path: Path, row_schema: Any) -> None:
    """`misfits` is about changes to come: what a table has taken is right, and stays."""
    lake = Lake(tmp_path)
    values = [*FIRST, flat(3, 1, a="text")]
    sent(lake, 0, values, row_schema=row_schema, misfits="rescue")
    later = [flat(1, 2, a=7), flat(0, 2, a="text")]
    done = sent(lake, 3, later, row_schema=row_schema, misfits="refuse")
    assert done.tables == {"refused": 1, "updated": 1}
    before = sorted(lake.rows("users"), key=str)
    assert [row["_changewire"]["rescued"] for row in before].count('{"a":"text"}') == 1
    assert cwd.verify(**lake.places).to_pylist() == []
    rebuilt(lake)
    assert sorted(lake.rows("users"), key=str) == before
    with pytest.raises(OutputError, match=r"users: 1 changes .* such as wrong-type: /after/a: "):
        cwd.rebuild(**lake.places, row_schema=TYPE)


@pytest.mark.parametrize("row_schema", [None, "auto", "json"])
@pytest.mark.parametrize("made", ["auto", "json"])
def test_a_table_of_an_earlier_version(tmp_path: Path, made: str, row_schema: str | None) -> None:
    """It is refused by a sentence that names `rebuild`, which makes it right."""
    lake = Lake(tmp_path)
    sent(lake, 0, [*FIRST, flat(3, 1, a="text")], row_schema=made)
    made_earlier(users(lake))
    sentence = "an earlier version made it, and changewire.delta.rebuild mends it"
    with pytest.raises(OutputError, match=sentence):
        cwd.verify(**lake.places)
    rebuilt(lake, row_schema=row_schema)
    assert sent(lake, 3, SECOND, row_schema=row_schema or made).tables["updated"] > 0
    assert cwd.verify(**lake.places).to_pylist() == []


@pytest.mark.parametrize("row_schema", [None, "auto", "json"])
@pytest.mark.parametrize("made", ["auto", "json"])
def test_columns_of_others_stay(tmp_path: Path, made: str, row_schema: str | None) -> None:
    """Whatever columns name the rows before and after, a row keeps what others have there."""
    lake, types = Lake(tmp_path), {"id": "LONG", "day": "DATE", "name": "STRING"}
    rows = [{"id": number, "day": 1704067200000, "name": "a"} for number in range(3)]
    values = [message("INSERT", 1, row, types=types, key=("id", "day")) for row in rows]
    lake.apply_records(records(*values), row_schema=made, time_zone="UTC")
    own = DeltaTable(f"{tmp_path}/tables/t")
    own.alter.add_columns([Field("note", PrimitiveType("string"))])
    own.update({"note": "'mine'"}, predicate="id = 1" if made == "auto" else "key LIKE '%:1}'")
    if row_schema is None:
        made_earlier(own)
    cwd.rebuild(**lake.places, row_schema=row_schema)
    assert [row["note"] for row in lake.rows()].count("mine") == 1
    (noted,) = (row for row in lake.rows() if row["note"])
    assert noted.get("id", 1) == 1
    assert cwd.verify(**lake.places).to_pylist() == []
    if row_schema:
        lake.apply_records(
            records(message("INSERT", 2, rows[0], types=types, key=("id", "day")), start=3),
            row_schema=row_schema,
            time_zone="UTC",
        )
        assert [row["note"] for row in lake.rows()].count("mine") == 1


@pytest.mark.parametrize("row_schema", [None, "json"])
def test_deleted_rows_keep_nothing_of_others(tmp_path: Path, row_schema: str | None) -> None:
    """In a flagged table only rows that are there keep what others have there."""
    lake, one, two = Lake(tmp_path), {"id": 1, "name": "a"}, {"id": 2, "name": "b"}
    sends = [message("INSERT", 1, one), message("INSERT", 1, two), message("DELETE", 2, two)]
    lake.apply_records(records(*sends), row_schema="auto", deletes="flag")
    own = DeltaTable(f"{tmp_path}/tables/t")
    own.alter.add_columns([Field("note", PrimitiveType("string"))])
    own.update({"note": "'mine'"})
    cwd.rebuild(**lake.places, row_schema=row_schema)
    notes = {row["_changewire"]["deleted"]: row["note"] for row in lake.rows()}
    assert notes == {False: "mine", True: None}


def test_a_rebuild_that_was_killed_is_made_again(tmp_path: Path) -> None:
    """Delta-rs replaces rows and properties by two commits: until the second, runs are refused."""
    lake = Lake(tmp_path)
    sent(lake, 0, FIRST)
    properties = dict(users(lake).metadata().configuration)
    cwd.rebuild(**lake.places, row_schema="auto")
    users(lake).alter.set_table_properties(
        {**properties, "changewire.columns": "", "changewire.rows": ""}, raise_if_not_exists=False
    )
    with pytest.raises(OutputError, match=r"the column 'key', which it lacks: .* rebuild was"):
        sent(lake, 2, SECOND, row_schema="auto")
    with pytest.raises(OutputError, match="`rebuild` with row_schema makes it again"):
        cwd.rebuild(**lake.places)
    cwd.rebuild(**lake.places, row_schema="auto")
    sent(lake, 4, LATER, row_schema="auto")
    assert cwd.verify(**lake.places).to_pylist() == []


def test_partitions_stay(tmp_path: Path) -> None:
    """A rebuild keeps the columns that a table is partitioned by, or says that it cannot."""
    lake = Lake(tmp_path)
    sent(lake, 0, FIRST, row_schema="auto")
    rows = users(lake).to_pyarrow_table()
    properties = users(lake).metadata().configuration
    folder = f"{tmp_path}/tables/users"
    write_deltalake(folder, rows, mode="overwrite", partition_by=["a"], schema_mode="overwrite")
    assert users(lake).metadata().configuration == properties
    rebuilt(lake, row_schema=TYPE)
    assert users(lake).metadata().partition_columns == ["a"]
    with pytest.raises(OutputError, match="partitioned by the column a, which row_schema does not"):
        cwd.rebuild(**lake.places, row_schema="json")
    kind = pa.schema([("a", pa.decimal128(12, 2))])
    with pytest.raises(OutputError, match=r"not write the table \(decimal\(12,2\) partition col"):
        cwd.rebuild(**lake.places, row_schema=kind)
