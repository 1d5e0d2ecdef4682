"""Logs that queries without Spark read: folders and tables, replays, and what is not a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from msgspec.structs import replace
from tests.runtime.engines.version_rows import LINES, as_log, log_of, refused
from tests.runtime.tables.histories import change, placed, truncate

import changewire as cw
import changewire.arrow as cwa
from changewire.engines.errors import OutputError


def test_a_refused_change_counts_when_it_is_replayed() -> None:
    """Until then it begins no version, and the newest replay says what it is."""
    first, second = placed(change(a=1), change(sequence=2, a=2))
    log = pa.concat_tables([log_of([first, second]), refused([second])])
    assert [row["row"] for row in cwa.history(log, table="d.t").to_pylist()] == ['{"id":1,"a":1}']
    (open_one,) = cwa.refused(log).to_pylist()
    assert (open_one["code"], open_one["offset"]) == ("schema-mismatch", 1)
    step = cwa.trace(log, {"id": 1}).steps[-1]
    assert step.refused is not None
    assert (step.refused.reason, "too long" in step.refused.detail) == ("refused", True)
    (again,) = placed(change(sequence=2, a=3), start=1)
    replayed = pa.concat_tables([log, log_of([], [again])])
    rows = [row["row"] for row in cwa.history(replayed, table="d.t").to_pylist()]
    assert rows == ['{"id":1,"a":1}', '{"id":1,"a":3}']
    assert len(cwa.refused(replayed)) == 0
    once_more = pa.concat_tables([replayed, refused([again], 1)])
    assert len(cwa.history(once_more, table="d.t")) == len(cwa.refused(once_more)) == 1


def test_an_element_counts_once() -> None:
    """What a replay appended again, or a log has twice, is one change and one step."""
    changes = placed(change(a=1), change(sequence=2, a=2))
    once, often = log_of(changes), log_of([*changes, *changes], changes)
    assert cwa.history(often, table="d.t").equals(cwa.history(once, table="d.t"))
    assert cwa.current(often, table="d.t").equals(cwa.current(once, table="d.t"))
    assert len(cwa.trace(often, {"id": 1}).steps) == 2


def test_dead_letters_are_open_until_they_are_replayed(tmp_path: Path) -> None:
    """A row of another kind at their place closes them; logs may be of any kind of folder."""
    decoded = cwa.decode([LINES[0], b"{"], format="aerospike-json")
    log = as_log(decoded.rows.read_all())
    write_deltalake(str(tmp_path / "out" / "log"), log)
    (letter,) = cwa.dead_letters(tmp_path / "out").to_pylist()
    assert (letter["value"], letter["number"], letter["code"]) == (b"{", 1, "truncated")
    replayed = as_log(cwa.decode(LINES[:2], format="aerospike-json").rows.read_all())
    write_deltalake(str(tmp_path / "out" / "log"), replayed.slice(1), mode="append")
    assert len(cwa.dead_letters(tmp_path / "out")) == 0
    assert len(cwa.history(tmp_path / "out", table="shop.users")) == 2


def test_a_log_that_was_rewritten(tmp_path: Path) -> None:
    """A log of which delta-rs deleted rows is read, though its text is stored as views."""
    decoded = cwa.decode(LINES[:2], format="aerospike-json")
    write_deltalake(tmp_path, as_log(decoded.rows.read_all()))
    DeltaTable(tmp_path).delete("number = 1")
    (file,) = DeltaTable(tmp_path).file_uris()
    assert pq.read_schema(file).field("kind").type == pa.string_view()
    assert len(cwa.history(tmp_path, table="shop.users")) == 1


HOSTILE = ["a'b", 'a"b', "a`b", "a.b", "a b", "../x", "%s", "{e}", "\u202e", "日本", "x" * 300]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: str, tmp_path: Path) -> None:
    """Names of tables and columns may have any character."""
    one = change(key="k", table=name, a=1)
    hostile = replace(one, after={"id": "k", name: "v"})
    pq.write_table(log_of(placed(hostile)), tmp_path / "a.parquet")
    (row,) = cwa.history(tmp_path, table=f"d.{name}").to_pylist()
    assert json.loads(row["row"]) == {"id": "k", name: "v"}
    typed = cwa.current(tmp_path, table=f"d.{name}", row_schema=pa.schema([(name, pa.string())]))
    assert typed.to_pylist()[0][name] == "v"
    assert cwa.trace(tmp_path, {"id": "k"}, table=f"d.{name}").steps


def test_truncates_count_if_that_is_asked_for(tmp_path: Path) -> None:
    """Otherwise they change nothing, as in tables by default; logs may be Delta or Parquet."""
    log = log_of([*placed(change(a=1)), *placed(truncate(9), start=1)])
    write_deltalake(str(tmp_path / "delta" / "log"), log)
    (tmp_path / "parquet").mkdir()
    pq.write_table(log, tmp_path / "parquet" / "a.parquet")
    for place in (log, tmp_path / "delta", tmp_path / "delta" / "log", tmp_path / "parquet"):
        (row,) = cwa.history(place, table="d.t").to_pylist()
        assert row["is_current"]
        (row,) = cwa.history(place, table="d.t", apply_truncates=True).to_pylist()
        assert row["_changewire"]["ended"]["op"] == "truncate"
        assert row["valid_to"] is None  # it says no time
        assert len(cwa.current(place, table="d.t")) == 1
        assert len(cwa.current(place, table="d.t", apply_truncates=True)) == 0


def test_a_log_without_rows(tmp_path: Path) -> None:
    """Files and tables may be empty; then there is nothing."""
    empty = log_of([])
    for number, table in enumerate((empty, log_of(placed(change(a=1))))):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    assert len(cwa.history(tmp_path, table="d.t")) == len(cwa.current(tmp_path, table="d.t")) == 1
    assert len(cwa.trace(tmp_path, {"id": 1}).steps) == 1
    assert len(cwa.history(empty, table="d.t")) == len(cwa.dead_letters(empty)) == 0
    assert cwa.trace(empty, {"id": 1}).steps == []


def test_rows_whose_source_has_no_names() -> None:
    """A heartbeat or a DDL statement may name nothing; it does not concern the table."""
    nowhere = replace(
        truncate(9), source=cw.Source(system="s", database=None, schema=None, table=None)
    )
    log = log_of(placed(nowhere, change(a=1), nowhere))
    (row,) = cwa.history(log, table="d.t", apply_truncates=True).to_pylist()
    assert row["is_current"]
    assert len(cwa.trace(log, {"id": 1}, apply_truncates=True).steps) == 1


def test_text_of_other_libraries() -> None:
    """Logs of Polars and others have large strings."""
    changes = log_of(placed(change(a="1.10"), change(sequence=2, a="1.20")))
    fields = [
        field.with_type(pa.large_string()) if pa.types.is_string(field.type) else field
        for field in changes.schema
    ]
    found = cwa.history(changes.cast(pa.schema(fields)), table="d.t")
    assert found.equals(cwa.history(changes, table="d.t"))
    assert len(found) == 2


def test_what_is_no_change_log() -> None:
    """The error says what is missing, or that rows are not JSON text."""
    changes = log_of(placed(change(a=1)))
    with pytest.raises(OutputError, match="no column 'element'"):
        cwa.history(changes.drop_columns(["element"]), table="d.t")
    typed = changes.drop_columns(["after"]).append_column("after", pa.array([{"a": 1}]))
    with pytest.raises(OutputError, match="rows as JSON text"):
        cwa.history(typed, table="d.t")
    broken = changes.drop_columns(["after"]).append_column("after", pa.array(["[1]"]))
    with pytest.raises(OutputError, match="not a JSON object"):
        cwa.history(broken, table="d.t")
    with pytest.raises(ValueError, match="there are: plain, auto_cdc"):
        cwa.history(changes, table="d.t", names="scd2")  # type: ignore[arg-type]
    wrong: Any = 7
    with pytest.raises(TypeError, match="not int"):
        cwa.history(wrong, table="d.t")


@pytest.mark.parametrize(
    ("again", "keys"),
    [
        (change(key=3, sequence=2, a=2), ['{"id":1}', '{"id":3}']),
        (change(key=2, sequence=2, table="u"), ['{"id":1}']),
        (truncate(9), ['{"id":1}']),
        (change("delete", 1, 2), []),
    ],
)
def test_only_the_last_row_of_a_position_counts(again: cw.Change, keys: list[str]) -> None:
    """A replay may give a change another key or table, or make a control event of it."""
    changes = placed(change(a=1), change(key=2, sequence=2, a=2))
    log = log_of(changes, placed(again, start=1))
    assert [row["key"] for row in cwa.current(log, table="d.t").to_pylist()] == keys
    found = cwa.history(log, table="d.t").to_pylist()
    assert [row["key"] for row in found if row["is_current"]] == keys
    assert cwa.trace(log, {"id": 2}, table="d.t").steps == []


def test_a_truncate_that_is_replayed_as_a_change_truncates_nothing() -> None:
    """What its position said first does not count any more."""
    changes = placed(change(a=1), truncate(9))
    log = log_of(changes, placed(change(key=2, a=2), start=1))
    rows = cwa.current(log, table="d.t", apply_truncates=True).to_pylist()
    assert [row["key"] for row in rows] == ['{"id":1}', '{"id":2}']
