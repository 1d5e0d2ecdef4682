"""Tables without Spark, compared with their log and rebuilt from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.engines.merge_local.test_histories import cut
from tests.runtime.engines.version_rows import log_of
from tests.runtime.tables.histories import change, placed, truncate

import changewire.delta as cwd
from changewire.engines.errors import OutputError

NAMED = pa.schema([("id", pa.int64()), ("name", pa.string())])
ODD = 'a.b`"'
HOSTILE = "a'b`c.d \u202e%s"


def faults(lake: Lake, **options: Any) -> dict[Any, tuple[str, int | None]]:
    """Return fault and offset of each row that differs, by its id."""
    rows = cwd.verify(**lake.places, **options).to_pylist()
    return {json.loads(row["key"])["id"]: (row["fault"], row["offset"]) for row in rows}


def table(lake: Lake, name: str = "t") -> DeltaTable:
    """Return a table."""
    return DeltaTable(f"{lake.root}/tables/{name}")


def damaged(lake: Lake) -> None:
    """Put faults into a table: rows that are missing, wrong, too many, and twice."""
    found = table(lake)
    rows = found.to_pyarrow_table()
    found.delete("id < 3")
    found.update({"name": "'wrong'"}, predicate="id = 3")
    found.update({"name": "NULL"}, predicate="id = 4")
    one = rows.filter(pc.equal(rows["id"], 5))
    extra = one.set_column(0, "id", pa.array([29], pa.int64()))
    write_deltalake(found, pa.concat_tables([one, extra]), mode="append")


def test_each_fault_is_named_and_repaired(tmp_path: Path) -> None:
    """A rebuild gives a table the rows that the log says, in one commit."""
    lake = Lake(tmp_path)
    everyone = [{"id": number, "name": f"n{number}"} for number in range(30)]
    messages = [message("INSERT", 10, row) for row in everyone]
    lake.apply_records(records(*messages, message("DELETE", 11, everyone[29])), row_schema=NAMED)
    assert faults(lake) == {}
    before = sorted(lake.rows(), key=str)
    damaged(lake)
    assert faults(lake) == {
        **{number: ("missing", number) for number in range(3)},
        **{number: ("different", number) for number in (3, 4)},
        5: ("extra", 5),
        29: ("extra", 30),
    }
    (wrong,) = (row for row in cwd.verify(**lake.places).to_pylist() if row["offset"] == 3)
    assert (wrong["expected"], wrong["actual"]) == (
        '{"id":3,"name":"n3"}',
        '{"id":3,"name":"wrong"}',
    )
    assert (wrong["table"], wrong["major"]) == (f"{tmp_path}/tables/t", 10)
    version = table(lake).version()
    assert cwd.rebuild(**lake.places) == [f"{tmp_path}/tables/t"]
    assert (table(lake).version(), faults(lake)) == (version + 1, {})
    assert sorted(lake.rows(), key=str) == before
    late = message("UPDATE_AFTER", 9, {"id": 29, "name": "late"})
    assert lake.apply_records(records(late, start=50), row_schema=NAMED).tables == {}


@pytest.mark.parametrize("deletes", ["remove", "flag"])
def test_all_rules_are_those_of_the_merge(tmp_path: Path, deletes: Any) -> None:
    """Late, doubled, deleted, moved and patched rows, and lone images: the log alone says all."""
    lake = Lake(tmp_path)
    batches: list[Any] = cut(20)
    options: dict[str, Any] = {"deletes": deletes, "default_table": "null"}
    lake.apply(*batches[:2], **options)
    lake.apply(*batches[2:], **options)
    assert len(cwd.verify(**lake.places, **options)) == 0
    before = lake.content()
    number = sum(map(len, before.values()))
    assert number > len(before) > 1
    for name in lake.names():
        table(lake, name).delete()
    found = cwd.verify(**lake.places, **options)
    assert found["fault"].to_pylist() == ["missing"] * number
    cwd.rebuild(**lake.places, **options)
    assert lake.content() == before
    assert len(cwd.verify(**lake.places, **options)) == 0
    lake.apply(*[batch[:9] for batch in batches], **options)
    assert lake.content() == before


def test_rows_of_json_differ_by_their_columns_alone(tmp_path: Path) -> None:
    """The order of columns says nothing; text that is not JSON differs."""
    lake = Lake(tmp_path)
    lake.apply_records(records(*(message("INSERT", 1, {"id": n, "name": "a"}) for n in range(4))))
    for number, text in enumerate(['{"name":"a","id":0}', '{"id":1}', "no JSON"]):
        table(lake).update({"row": f"'{text}'"}, predicate=f"key = '{{\"id\":{number}}}'")
    table(lake).update({"row": "NULL"}, predicate="key = '{\"id\":3}'")
    assert faults(lake) == {number: ("different", number) for number in (1, 2, 3)}
    cwd.rebuild(**lake.places)
    assert faults(lake) == {}


def test_refused_changes_do_not_count(tmp_path: Path) -> None:
    """A refused move leaves its row, and a change that no table took is missing in none."""
    lake = Lake(tmp_path)
    rows = pa.schema([("id", pa.int64()), ("price", pa.float64())])
    texts = {"id": "LONG", "price": "STRING"}
    sent = [
        message("INSERT", 1, {"id": 1, "price": 1.5}),
        message("UPDATE_AFTER", 5, {"id": 2, "price": "x"}, before={"id": 1}, types=texts),
        message("INSERT", 5, {"id": 3, "price": "x"}, types=texts),
    ]
    assert lake.apply_records(records(*sent), row_schema=rows).tables == {
        "inserted": 1,
        "refused": 2,
    }
    assert faults(lake) == {}
    table(lake).delete()
    assert faults(lake) == {1: ("missing", 0)}


def test_the_log_counts_as_far_as_tables_have_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Changes that landed since are not missing; a rebuild takes them, and both warn of them."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1, a=1)))
    log, more = lake.places["log"], log_of(placed(change(key=2, a=2), start=9))
    DeltaTable(log).optimize.compact()
    DeltaTable(log).update({"event_time": "NULL"})
    assert faults(lake) == {}
    assert caplog.messages == []
    write_deltalake(log, more, mode="append")
    DeltaTable(log).optimize.compact()
    assert faults(lake) == {}
    table(lake).delete()
    assert faults(lake) == {1: ("missing", 0)}
    cwd.rebuild(**lake.places)
    assert sorted(lake.json_rows()) == [1, 2]
    assert faults(lake) == {2: ("extra", None)}
    assert [one.name for one in caplog.records] == [
        *(f"changewire.{name}" for name in ("verify", "verify", "rebuild", "verify"))
    ]
    (text,) = {*caplog.messages}
    assert f"{log}: its newest changes are not merged yet; until `apply_log`" in text
    caplog.clear()
    cwd.apply_log(**lake.places, row_schema="json")
    assert faults(lake) == {}
    cwd.rebuild(**lake.places)
    assert caplog.messages == []


def test_a_version_of_the_log_that_was_removed(tmp_path: Path) -> None:
    """If its files are gone, an error says so, and `apply_log` brings the tables to the newest."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1, a=1)))
    log = lake.places["log"]
    write_deltalake(log, log_of(placed(change(key=2, a=2), start=9)), mode="append")
    DeltaTable(log).optimize.compact()
    DeltaTable(log).vacuum(0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(OutputError, match=r"log: delta-rs cannot do it \(.*parquet"):
        faults(lake)
    cwd.apply_log(**lake.places, row_schema="json")
    assert faults(lake) == {}


@pytest.mark.parametrize("closes", ["before", "after"])
@pytest.mark.parametrize("adds", [True, False])
def test_a_log_that_was_compacted_and_cleaned(tmp_path: Path, closes: str, *, adds: bool) -> None:
    """Closed dead letters, and changes that tables lack, do not ask for files that are gone."""
    lake = Lake(tmp_path)
    sent = [message("INSERT", number, {"id": number}) for number in (1, 2)]
    lake.apply_records(records(sent[0], b"broken"))
    lake.apply_records(records(sent[1], start=2))
    log, says = lake.places["log"], {"where": "true", "by": "ann", "why": "sent again"}
    if closes == "before":
        assert cwd.close_dead_letters(log, **says) == 1
    DeltaTable(log).optimize.compact()
    DeltaTable(log).vacuum(0, enforce_retention_duration=False, dry_run=False)
    if closes == "after":
        assert cwd.close_dead_letters(log, **says) == 1
    if adds:
        rows = DeltaTable(log).to_pyarrow_table()
        more = rows.filter(pc.equal(rows["offset"], 2))
        column = pa.array([3], pa.int64())
        more = more.set_column(more.column_names.index("offset"), "offset", column)
        write_deltalake(log, more, mode="append")
    assert faults(lake) == {}


def test_rows_without_positions_and_newest_attempts(tmp_path: Path) -> None:
    """Each row without a position is an element by itself; of others the newest attempt counts."""
    lake = Lake(tmp_path)
    first = placed(change(key=1, a=1), change(key=2, a=2), change(key=3, a=3))
    again = placed(change(key=9, a="replayed"), start=1)
    log = log_of(first, again)
    unplaced = log_of(placed(change(key=7, a=7), change(key=8, a=8)))
    for name in ("topic", "partition", "offset"):
        kind = log.schema.field(name)
        number = unplaced.column_names.index(name)
        unplaced = unplaced.set_column(number, kind, pa.nulls(len(unplaced), kind.type))
    write_deltalake(lake.places["log"], pa.concat_tables([log, unplaced]))
    assert {*faults(lake).items()} >= {(1, ("missing", 0)), (9, ("missing", 1))}
    assert sorted(faults(lake)) == [1, 3, 7, 8, 9]
    cwd.apply_log(**lake.places, row_schema="json")
    cwd.rebuild(**lake.places)
    assert sorted(lake.json_rows()) == [1, 3, 7, 8, 9]
    assert faults(lake) == {}


def test_truncates_count_if_they_are_applied(tmp_path: Path) -> None:
    """Rows that are older than a truncate are extra then."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1, sequence=1), change(key=2, sequence=9), truncate(5)))
    assert faults(lake) == {}
    assert faults(lake, apply_truncates=True) == {1: ("extra", None)}
    cwd.rebuild(**lake.places, apply_truncates=True)
    assert sorted(lake.json_rows()) == [2]


def test_flagged_rows_are_extra_unless_they_are_kept(tmp_path: Path) -> None:
    """The same rows with their flags are right, since the table remembers that it keeps them."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1), change("delete", 1, 5), change(key=2)), deletes="flag")
    assert faults(lake, deletes="flag") == {}
    assert faults(lake) == {}
    assert faults(lake, deletes="remove") == {1: ("extra", 1)}
    cwd.rebuild(**lake.places)
    assert sorted(row["_changewire"]["deleted"] for row in lake.rows()) == [False, True]
    cwd.rebuild(**lake.places, deletes="remove")
    assert [row["_changewire"]["deleted"] for row in lake.rows()] == [False]


def test_a_target_without_table_has_one_source(tmp_path: Path) -> None:
    """Changes of another source are in no row, unless `one_table` lets them; a name is checked."""
    lake, one = Lake(tmp_path), f"{tmp_path}/tables/one"
    first, second = message("INSERT", 1, {"id": 1}), message("INSERT", 3, {"id": 1}, table="a")
    lake.apply_records(records(first), target=one)
    lake.apply_records(records(second, start=5), target=one)
    places: dict[str, Any] = {**lake.places, "target": one}
    assert len(cwd.verify(**places)) == 0
    assert cwd.verify(**places, one_table=True).to_pylist() == []
    with pytest.raises(OutputError, match=r"the log has no table d\.a; it has: d\.t$"):
        cwd.rebuild(**places, tables=["d.t", "d.a"])
    assert cwd.rebuild(**places, tables=["d.t"]) == [one]
    assert [row["_changewire"]["offset"] for row in lake.rows("one")] == [0]


def test_names_of_tables_and_columns_are_data(tmp_path: Path) -> None:
    """Whatever they are, rows are compared and written as they are."""
    lake = Lake(tmp_path)
    row = {"id": 1, ODD: "x", "name": HOSTILE}
    types = {"id": "LONG", ODD: "STRING", "name": "STRING"}
    for rows in ("json", "embedded"):
        at: dict[str, Any] = {
            "log": f"{tmp_path}/{rows}-log",
            "target": f"{tmp_path}/{rows}/{{table}}",
        }
        sent = message("INSERT", 1, row, table=HOSTILE, types=types)
        lake.apply_records(records(sent), row_schema=rows, **at)
        assert len(cwd.verify(**at)) == 0
        (made,) = cwd.rebuild(**at, tables=[f"d.{HOSTILE}"])
        DeltaTable(made).delete()
        (fault,) = cwd.verify(**at).to_pylist()
        assert json.loads(fault["expected"]) == row
        cwd.rebuild(**at)
        assert len(cwd.verify(**at)) == 0


def test_columns_that_nothing_names_stay(tmp_path: Path) -> None:
    """They are not compared, and a rebuild leaves them as they are; a new row has NULL there."""
    lake = Lake(tmp_path)
    sent = [message("INSERT", 1, {"id": number, "name": "a"}) for number in (1, 2)]
    lake.apply_records(records(*sent), row_schema=NAMED)
    own = table(lake)
    own.alter.add_columns([Field("note", PrimitiveType("string"))])
    own.update({"note": "'mine'", "name": "'wrong'"}, predicate="id = 1")
    own.delete("id = 2")
    assert faults(lake) == {1: ("different", 0), 2: ("missing", 1)}
    cwd.rebuild(**lake.places)
    assert sorted((row["id"], row["name"], row["note"]) for row in lake.rows()) == [
        (1, "a", "mine"),
        (2, "a", None),
    ]
    assert faults(lake) == {}


def test_a_part_of_the_log_rebuilds_a_table(tmp_path: Path) -> None:
    """After a statement without images, a table is made of what its source loaded again."""
    lake = Lake(tmp_path)
    lake.apply_records(records(message("INSERT", 5, {"id": 1, "name": "old"})))
    reload = [message("INSERT", -1, {"id": number, "name": "new"}) for number in (1, 2)]
    lake.apply_records(records(*reload, start=10))
    assert lake.json_rows()[1]["name"] == "old"
    cwd.rebuild(**lake.places, where="\"offset\" >= 10 AND event_time >= '2024-01-01'")
    assert [row["name"] for row in lake.json_rows().values()] == ["new", "new"]
    with pytest.raises(OutputError, match="delta-rs cannot do it"):
        cwd.rebuild(**lake.places, where="no_column = 1")


def test_a_constraint_stops_a_rebuild(tmp_path: Path) -> None:
    """What the log says does not fit a constraint that came later; the table stays as it was."""
    lake = Lake(tmp_path)
    sent = [message("INSERT", 1, {"id": number, "name": "a"}) for number in range(3)]
    lake.apply_records(records(*sent), row_schema=NAMED)
    own = table(lake)
    own.delete("id < 2")
    own.alter.add_constraint({"big": "id > 1"})
    with pytest.raises(OutputError, match=r"t: 2 rows that the log says .* the constraint big"):
        cwd.rebuild(**lake.places)
    assert [row["id"] for row in lake.rows()] == [2]


def test_a_table_that_is_gone(tmp_path: Path) -> None:
    """All its rows are missing, and a rebuild says who makes tables."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1)))
    (tmp_path / "tables").rename(tmp_path / "elsewhere")
    assert faults(lake) == {1: ("missing", 0)}
    with pytest.raises(OutputError, match="no table to rebuild; apply_changes makes tables"):
        cwd.rebuild(**lake.places)
    with pytest.raises(OutputError, match="the log does not exist"):
        cwd.verify(f"{tmp_path}/none", target=lake.places["target"])
    with pytest.raises(ValueError, match="has no slash"):
        cwd.verify("none", target=lake.places["target"])
