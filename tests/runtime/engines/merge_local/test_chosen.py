"""Some tables of the source alone, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from tests.runtime.engines.chosen import KEYS, ONLY, UNMATCHED, first, keyless, later
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.tables.histories import change, placed

import changewire.arrow as cwa
import changewire.delta as cwd
from changewire.engines.errors import KeysMissingError, OutputError


def test_tables_are_made_of_chosen_sources_alone(tmp_path: Path) -> None:
    """The log has all messages; what is left out is counted, and does not count as lost."""
    lake = Lake(tmp_path)
    outcome = lake.apply_records(records(*first()), **ONLY)
    assert lake.names() == ["t", "u"]
    assert outcome.tables == {"inserted": 4, "left_out": 6}
    assert (outcome.unapplied, outcome.is_lost) == (0, False)
    assert sorted(outcome.changes_by_table) == ["d.t", "d.u"]
    assert [*map(tuple, outcome.unmatched)] == UNMATCHED
    assert len(lake.log()) == len(first())
    assert not lake.log("refused")
    again = lake.apply_records(records(*first()), **ONLY)
    assert (again.tables, again.already_in_log) == ({}, len(first()))


def test_a_table_that_is_let_in_later(tmp_path: Path) -> None:
    """It has what comes then; a rebuild gives it the rest, also its late deletes."""
    lake = Lake(tmp_path)
    lake.apply_records(records(*first()), **ONLY)
    outcome = lake.apply_records(records(*later(), start=50), except_tables=["d.u*"])
    assert outcome.tables == {"inserted": 1, "updated": 1}
    assert [*lake.json_rows("v")] == [3]
    assert {key: row["name"] for key, row in lake.json_rows().items()} == {1: "a", 2: "late"}
    with pytest.raises(OutputError, match="no table to rebuild"):
        cwd.rebuild(**lake.places)
    cwd.rebuild(**lake.places, except_tables=["d.u_1"])
    assert sorted(lake.json_rows("v")) == [1, 3]


def test_verify_compares_tables_that_are_chosen(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without the names of tables, the rows of others are missing; so it is for `unapplied`."""
    lake = Lake(tmp_path)
    lake.apply_records(records(*first()), **ONLY)
    assert len(cwd.verify(**lake.places, **ONLY)) == 0
    assert [one.name for one in caplog.records] == ["changewire.verify"] * len(UNMATCHED)
    missing = cwd.verify(**lake.places).to_pylist()
    assert {(Path(row["table"]).name, row["fault"]) for row in missing} == {
        ("u_1", "missing"),
        ("v", "missing"),
    }
    keyless = cwa.unapplied(lake.places["log"]).to_pylist()
    assert keyless == [{"table": "d.v", "refused": 0, "key_missing": 1}]
    assert len(cwa.unapplied(lake.places["log"], **ONLY)) == 0
    DeltaTable(f"{tmp_path}/tables/t").delete("TRUE")
    assert len(cwd.verify(**lake.places, **ONLY)) == 2
    cwd.rebuild(**lake.places, **ONLY)
    assert sorted(lake.json_rows()) == [1, 2]


def test_late_deletes_of_a_table_that_is_left_out(tmp_path: Path) -> None:
    """They hold back no row of a table that several sources would feed."""
    lake, target = Lake(tmp_path), f"{tmp_path}/tables/one"
    sent = [message("DELETE", 9, {"id": 1}, table="u"), message("INSERT", 1, {"id": 2})]
    options: dict[str, Any] = {"target": target, "one_table": True, "only_tables": ["d.t"]}
    lake.apply_records(records(*sent), **options)
    lake.apply_records(records(message("INSERT", 2, {"id": 1}), start=10), **options)
    assert sorted(lake.json_rows("one")) == [1, 2]
    places: dict[str, Any] = {**lake.places, "target": target}
    assert len(cwd.verify(**places, one_table=True, only_tables=["d.t"])) == 0
    assert len(cwd.verify(**places, one_table=True)) == 1


def test_a_delete_without_table_goes_to_chosen_tables(tmp_path: Path) -> None:
    """It removes their rows, late ones too, and brings no other table."""
    lake = Lake(tmp_path)
    sent_changes = [change(table=name, key=key) for name in ("t", "u") for key in (1, 2)]
    lake.apply(placed(*sent_changes), only_tables=["d.t"])
    gone = placed(change("delete", sequence=5, table=None), start=10)
    assert lake.apply(gone, only_tables=["d.t"]).tables == {"deleted": 1}
    lake.apply(placed(change(sequence=4), start=20), only_tables=["d.t"])
    assert (lake.names(), [*lake.json_rows()]) == (["t"], [2])


def test_keys_are_asked_of_chosen_tables(tmp_path: Path) -> None:
    """A log whose first changes have no key, but are of other tables, is not refused."""
    lake = Lake(tmp_path)
    keyless = message("INSERT", 1, {"name": "a"}, table="v", key=())
    outcome = lake.apply_records(records(keyless), only_tables=["d.t"])
    assert outcome.tables == {"left_out": 1}
    with pytest.raises(ValueError, match="only_tables: 'a' is given twice"):
        lake.apply_records(records(keyless), only_tables=["a", "a"])


def test_keys_by_table(tmp_path: Path) -> None:
    """Each table has its own; other columns are refused, as before."""
    lake = Lake(tmp_path)
    keys = {**KEYS, "e.*": ["id"], "d.w": ["id"]}
    outcome = lake.apply_records(records(*keyless()), key_columns=keys, row_schema="embedded")
    assert (outcome.tables, outcome.unapplied) == ({"inserted": 2}, 0)
    assert [*map(tuple, outcome.unmatched)] == [
        ("key_columns", ["d.w", "e.*"], ["d.t", "d.u", "t", "u"])
    ]
    assert [(row["id"], row["name"]) for row in lake.rows("t")] == [(1, "b")]
    assert [(row["id"], row["name"]) for row in lake.rows("u")] == [(1, "a")]
    more = message("INSERT", 5, {"id": 5, "name": "e"}, table="u", key=())
    again = lake.apply_records(
        records(more, start=20), key_columns={"*": ["id"]}, row_schema="embedded"
    )
    assert again.tables == {"refused": 1}
    assert [row["code"] for row in lake.log("refused")] == ["key-mismatch"]


def test_keys_of_tables_that_no_message_has(tmp_path: Path) -> None:
    """If no change has a key by them, a run says which columns rows have."""
    lake = Lake(tmp_path)
    with pytest.raises(KeysMissingError, match=r"columns of rows are: id, name; name those"):
        lake.apply_records(records(*keyless()), key_columns={"shop.*": ["id"]})
