"""Two targets of one log without Spark: what one of them refuses is in the tables of the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.engines.two_targets import DELETED, EXPECTED, FIRST, LATE, TYPES

import changewire.arrow as cwa
import changewire.delta as cwd

FORMAT = "dataworks-json"
JSON: dict[str, Any] = {"row_schema": "json"}


def places(lake: Lake, name: str) -> dict[str, Any]:
    """Return the log, and the target of a name."""
    return {"log": lake.places["log"], "target": f"{lake.root}/{name}/{{table}}"}


def rows(lake: Lake, name: str) -> list[tuple[Any, ...]]:
    """Return the rows of the table of a target."""
    found = DeltaTable(f"{lake.root}/{name}/t").to_pyarrow_table().to_pylist()
    return sorted((row["id"], row["price"]) for row in found)


def check(lake: Lake) -> None:
    """Check that each target has its rows, as `verify` says too, and that a rebuild makes them."""
    for name, expected in EXPECTED.items():
        assert rows(lake, name) == expected
        assert cwd.verify(**places(lake, name)).to_pylist() == []
        DeltaTable(f"{lake.root}/{name}/t").delete()
        faults = cwd.verify(**places(lake, name))["fault"].to_pylist()
        assert faults == ["missing"] * len(expected)
        cwd.rebuild(**places(lake, name))
        assert rows(lake, name) == expected


@pytest.mark.parametrize("names", [("texts", "numbers"), ("numbers", "texts")])
def test_a_refusal_is_of_one_target(tmp_path: Path, names: tuple[str, str]) -> None:
    """A late write sees a move that its target took, and none that it refused."""
    lake, (first, second) = Lake(tmp_path), names
    for batch in (FIRST, LATE):
        lake.apply_records(batch, row_schema=TYPES[first], **places(lake, first))
        cwd.apply_log(**places(lake, second), row_schema=TYPES[second])
    check(lake)
    log, numbers = lake.places["log"], places(lake, "numbers")["target"]
    found = [(row["offset"], row["target"]) for row in cwa.refused(log).to_pylist()]
    assert found == [(1, numbers), (2, numbers)]
    counted = {name: cwa.unapplied(log, target=places(lake, name)["target"]) for name in names}
    assert len(counted["texts"]) == 0
    assert counted["numbers"].to_pylist() == cwa.unapplied(log).to_pylist()
    assert counted["numbers"]["refused"].to_pylist() == [2]


def test_a_replay_is_of_one_target(tmp_path: Path) -> None:
    """It tries what its target refused; the other target takes the new attempts once more."""
    lake = Lake(tmp_path)
    ours, theirs = places(lake, "ours"), places(lake, "theirs")
    lake.apply_records(DELETED, **ours)
    assert cwd.apply_log(**theirs, **JSON, max_new_tables=0) == {"refused": 2}
    assert lake.apply_records(LATE, **ours).tables == {}
    assert cwd.apply_log(**theirs, **JSON, max_new_tables=0) == {"refused": 1}
    assert cwd.verify(**theirs).to_pylist() == cwd.verify(**ours).to_pylist() == []
    assert (len(cwd.rebuild(**theirs)), len(cwd.rebuild(**ours))) == (0, 1)
    done = cwd.replay(**ours, **JSON, format=FORMAT)
    assert (done.refused, done.closed, done.left) == (0, 0, 0)
    done = cwd.replay(**theirs, **JSON, format=FORMAT, where="code = 'too-many-tables'")
    assert (done.refused, done.closed, done.left) == (3, 3, 0)
    assert len(cwa.refused(lake.places["log"])) == 0
    assert cwd.apply_log(**ours, **JSON) == {}
    for at in (ours, theirs):
        assert len(DeltaTable(at["target"].format(table="t")).to_pyarrow_table()) == 0
        assert cwd.verify(**at).to_pylist() == []


def test_a_replay_leaves_what_another_target_refused(tmp_path: Path) -> None:
    """A change that both refused is open for each; `where` is about the own refusal."""
    lake = Lake(tmp_path)
    ours, theirs = places(lake, "ours"), places(lake, "theirs")
    lake.apply_records(FIRST, row_schema=TYPES["numbers"], **ours)
    cwd.apply_log(**theirs, **JSON, max_new_tables=0)
    found = cwa.refused(lake.places["log"]).to_pylist()
    assert sorted((row["offset"], row["code"]) for row in found) == [
        (0, "too-many-tables"),
        *((offset, code) for offset in (1, 2) for code in ("too-many-tables", "wrong-type")),
    ]
    assert cwa.unapplied(lake.places["log"])["refused"].to_pylist() == [3]
    given: dict[str, Any] = {"format": FORMAT, "row_schema": TYPES["numbers"]}
    done = cwd.replay(**ours, **given, where="code = 'too-many-tables'")
    assert (done.refused, done.left) == (0, 0)
    done = cwd.replay(**ours, **given)
    assert (done.refused, done.closed, done.left) == (2, 0, 2)
    assert cwd.verify(**ours).to_pylist() == []


def test_refusals_of_an_earlier_version_are_of_any_target(tmp_path: Path) -> None:
    """A log without the column gets it, and what it has refused stays so until it is replayed."""
    lake, old = Lake(tmp_path / "new"), Lake(tmp_path / "old")
    lake.apply_records(FIRST, row_schema=TYPES["numbers"], **places(lake, "numbers"))
    log = DeltaTable(lake.places["log"]).to_pyarrow_table()
    write_deltalake(old.places["log"], log.drop_columns(["target"]))
    found = cwa.refused(old.places["log"])
    assert (found["offset"].to_pylist(), found["target"].null_count) == ([1, 2], 2)
    at = places(old, "numbers")
    assert cwd.apply_log(**at, row_schema=TYPES["numbers"]) == {"inserted": 1, "refused": 2}
    old.apply_records(LATE, row_schema=TYPES["numbers"], **at)
    assert rows(old, "numbers") == EXPECTED["numbers"]
    assert cwd.verify(**at).to_pylist() == []
    assert sorted((row["offset"], row["target"] or "") for row in old.log("refused")) == [
        (offset, target) for offset in (1, 2) for target in ("", at["target"])
    ]
    assert cwa.unapplied(old.places["log"])["refused"].to_pylist() == [2]
    done = cwd.replay(**at, format=FORMAT, row_schema=TYPES["numbers"])
    assert (done.refused, done.closed, done.left) == (2, 0, 2)
