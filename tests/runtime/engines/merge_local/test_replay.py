"""Dead letters and refused changes without Spark, once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake

import changewire.arrow as cwa
import changewire.delta as cwd
from changewire.engines.errors import OutputError

FORMAT = "dataworks-json"
TYPED = pa.schema([("id", pa.int64()), ("price", pa.float64())])
BAD = {"id": 2, "price": "x"}
TEXTS = {"id": "LONG", "price": "STRING"}


def replayed(lake: Lake, **options: Any) -> tuple[int, int, int, int]:
    """Replay; return how many letters and refused changes were tried, are closed, and are left."""
    given: dict[str, Any] = {"format": FORMAT, "row_schema": "json", **lake.places, **options}
    done = cwd.replay(**given)
    return done.dead_letters, done.refused, done.closed, done.left


def prefixed(number: int) -> bytes:
    """Return a message that can be read if the bytes of a registry are stripped."""
    return b"\0\0\0\0\1" + message("INSERT", 8, {"id": number, "name": "late"})


def test_dead_letters_are_replayed_by_element(tmp_path: Path) -> None:
    """What is valid by now is merged in its own order, and its dead letter is closed."""
    lake = Lake(tmp_path)
    newer = message("INSERT", 9, {"id": 2, "name": "new"})
    lake.apply_records(records(prefixed(2), b"{", newer, prefixed(3)))
    assert replayed(lake) == (3, 0, 0, 3)
    assert replayed(lake, strip_registry_prefix=True, where='"offset" = 3') == (1, 0, 1, 0)
    assert {key: row["name"] for key, row in lake.json_rows().items()} == {2: "new", 3: "late"}
    assert replayed(lake, strip_registry_prefix=True) == (2, 0, 1, 1)
    assert lake.json_rows()[2]["name"] == "new"
    assert cwa.dead_letters(lake.places["log"])["offset"].to_pylist() == [1]
    attempts = [(row["offset"], row["attempt"]) for row in lake.log("change")]
    assert sorted(attempts) == [(0, 1), (2, 0), (3, 1)]
    assert replayed(lake, strip_registry_prefix=True) == (1, 0, 0, 1)
    assert len(cwd.verify(**lake.places)) == 0


def test_closed_letters_of_a_message_stay_closed(tmp_path: Path) -> None:
    """Only elements that were rejected and are open are replayed."""
    lake = Lake(tmp_path)
    lake.apply_records(records(prefixed(1), prefixed(2), message("INSERT", 1, {"id": 3})))
    log = lake.places["log"]
    assert cwd.close_dead_letters(log, where='"offset" = 0', by="ann", why="sent again") == 1
    assert replayed(lake, strip_registry_prefix=True) == (1, 0, 1, 0)
    assert sorted(lake.json_rows()) == [2, 3]


def test_refused_changes_are_applied_again(tmp_path: Path) -> None:
    """One that a table takes by now is closed; another one stays open, and verify misses none."""
    lake = Lake(tmp_path)
    sent = [
        message("INSERT", 1, {"id": 1, "price": "1.5"}, table="a"),
        message("UPDATE_AFTER", 5, BAD, table="b", before={"id": 1}, types=TEXTS),
        message("INSERT", 1, {"id": 1, "price": 1}, table="c"),
        message("INSERT", 1, {"id": 1, "price": 1}, table="b"),
    ]
    lake.apply_records(records(*sent, prefixed(7)), row_schema=TYPED, max_new_tables=1)
    assert sorted(row["offset"] for row in lake.log("refused")) == [1, 2, 3]
    assert replayed(lake, row_schema=TYPED, where="code = 'no-such-code'") == (0, 0, 0, 0)
    assert replayed(lake, row_schema=TYPED, where="code = 'too-many-tables'") == (0, 3, 2, 1)
    assert [(row["id"], row["price"]) for row in lake.rows("b")] == [(1, 1.0)]
    found = cwa.refused(lake.places["log"]).to_pylist()
    assert [(row["code"], row["offset"], row["attempt"]) for row in found] == [("wrong-type", 1, 1)]
    assert len(cwd.verify(**lake.places)) == 0
    assert replayed(lake, row_schema=TYPED, strip_registry_prefix=True) == (1, 1, 1, 1)
    assert lake.names() == ["a", "b", "c", "t"]
    assert len(cwd.verify(**lake.places)) == 0


def test_a_letter_that_becomes_a_refused_change_is_left(tmp_path: Path) -> None:
    """It is closed as a letter and open as a change, which a later replay applies."""
    lake = Lake(tmp_path)
    lake.apply_records(records(prefixed(1)))
    options: dict[str, Any] = {"strip_registry_prefix": True}
    assert replayed(lake, max_new_tables=0, **options) == (1, 0, 1, 1)
    assert replayed(lake, **options) == (0, 1, 1, 0)
    assert sorted(lake.json_rows()) == [1]


def test_a_killed_replay_is_run_again(tmp_path: Path) -> None:
    """What it appended is merged by the next one, or by a run, and is not appended twice."""
    lake = Lake(tmp_path)
    lake.apply_records(records(prefixed(1), message("INSERT", 1, {"id": 2})))
    other = Lake(tmp_path / "other")
    other.apply_records(records(message("INSERT", 8, {"id": 1, "name": "late"})))
    rows = pa.table(DeltaTable(other.places["log"]).to_pyarrow_table())
    number = rows.column_names.index("attempt")
    again = rows.set_column(number, "attempt", pa.array([1], pa.int32()))
    write_deltalake(lake.places["log"], again, mode="append")
    assert replayed(lake, strip_registry_prefix=True) == (0, 0, 0, 0)
    assert sorted(lake.json_rows()) == [1, 2]
    assert len(lake.log("change")) == 2


def test_what_has_no_position_is_left(tmp_path: Path) -> None:
    """No row of the log could close it, so nothing is appended for it."""
    lake = Lake(tmp_path)
    lake.apply_records(records(prefixed(0), message("INSERT", 1, {"id": 5})))
    rows = DeltaTable(lake.places["log"]).to_pyarrow_table()
    letters = rows.filter(pa.compute.equal(rows["kind"], "dead_letter"))
    for name in ("topic", "partition", "offset"):
        kind = letters.schema.field(name)
        nothing = pa.nulls(len(letters), kind.type)
        letters = letters.set_column(letters.column_names.index(name), kind, nothing)
    write_deltalake(lake.places["log"], pa.concat_tables([letters, letters]), mode="append")
    assert replayed(lake, strip_registry_prefix=True) == (3, 0, 1, 2)
    assert sorted(lake.json_rows()) == [0, 5]


def test_a_condition_is_checked(tmp_path: Path) -> None:
    """An error says that delta-rs cannot evaluate it."""
    lake = Lake(tmp_path)
    lake.apply_records(records(message("INSERT", 1, {"id": 5})))
    with pytest.raises(OutputError, match="log: delta-rs cannot do it"):
        replayed(lake, where="no_column = 1")
