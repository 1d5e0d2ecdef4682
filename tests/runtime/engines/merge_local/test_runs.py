"""Runs without Spark that are killed, run again, and that share a log with others."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.fs
import pytest
from deltalake import DeltaTable
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake, recorded, records_of
from tests.runtime.tables.histories import change, placed

import changewire.arrow as cwa
from changewire.engines.merge.apply import apply_changes
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.merging import Merges
from changewire.engines.merge.table import LocalTable

FORMAT = "dataworks-json"


class KilledError(Exception):
    """The process ended here."""


def kill(patch: pytest.MonkeyPatch, owner: Any, name: str, after: int = 0) -> None:
    """Let a method end the run when it is called, after so many calls that do what they do."""
    calls, method = Counter[str](), getattr(owner, name)

    def end(*arguments: Any, **options: Any) -> Any:
        calls[name] += 1
        if calls[name] > after:
            raise KilledError
        return method(*arguments, **options)

    patch.setattr(owner, name, end)


def messages() -> list[tuple[Any, ...]]:
    """Return messages for two tables, one that no table takes, and one that is no message."""
    many = [message("INSERT", 10 + i, {"id": i, "name": "a"}, table="TU"[i % 2]) for i in range(6)]
    collides = message("INSERT", 1, {"id": 1}, table="t")
    return records(*many, message("DELETE", 20, {"id": 0, "name": "a"}, table="T"), collides, b"{")


def state(lake: Lake) -> Any:
    """Return what a log and its tables have."""
    kinds = Counter(row["kind"] for row in lake.log())
    return kinds, lake.content()


@pytest.mark.parametrize(
    ("owner", "name", "after"),
    [
        (Merges, "merge", 0),
        (LocalTable, "merge", 1),
        (LocalLog, "append_refused", 0),
        (LocalLog, "finish", 0),
        (LocalLog, "append", 1),
    ],
)
def test_a_killed_run_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: int
) -> None:
    """Wherever it ended, log and tables are those of a run that was not killed."""
    whole, lake = Lake(tmp_path / "whole"), Lake(tmp_path / "killed")
    whole.apply_records(messages(), batch_size=1)
    with monkeypatch.context() as patch:
        kill(patch, owner, name, after)
        with pytest.raises(KilledError):
            lake.apply_records(messages(), batch_size=4)
    lake.apply_records(messages(), batch_size=4)
    assert state(lake) == state(whole)
    assert state(whole)[0] == {"change": 8, "refused": 1, "dead_letter": 1}
    assert sorted(lake.json_rows("T")) == [2, 4]


def test_what_a_killed_run_logged_is_merged_by_any_later_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run over other files merges it first, so that later deletes and writes find it."""
    lake = Lake(tmp_path)
    with monkeypatch.context() as patch:
        kill(patch, Merges, "merge")
        with pytest.raises(KilledError):
            lake.apply_records(records(message("DELETE", 5, {"id": 1, "name": "a"})))
    newer = [message("INSERT", 4, {"id": 1, "name": "a"}), message("INSERT", 4, {"id": 2})]
    lake.apply_records(records(*newer, start=10))
    assert sorted(lake.json_rows()) == [2]


def versions(lake: Lake) -> dict[str, int]:
    """Return the versions of the log and of each table."""
    folders = {"log": lake.places["log"]}
    folders |= {name: f"{lake.root}/tables/{name}" for name in lake.names()}
    return {name: DeltaTable(folder).version() for name, folder in folders.items()}


def test_a_second_run_over_the_same_messages_changes_nothing(tmp_path: Path) -> None:
    """It adds nothing to the log; a change without a sequence does not become newer by it."""
    lake = Lake(tmp_path)
    unordered = placed(change(key=1, sequence=None, a=1), partition=9)
    newer = placed(change(key=1, sequence=5, a=2))
    lake.apply(unordered, newer)
    before = versions(lake)
    outcome = lake.apply([*unordered, *newer])
    assert (outcome.tables, outcome.already_in_log) == ({}, 2)
    assert versions(lake) == before
    assert lake.json_rows() == {1: {"id": 1, "a": 2}}


def test_a_second_run_adds_what_files_have_more(tmp_path: Path) -> None:
    """Path and number tell the elements of a file; nothing that was landed is replaced."""
    lake, file = Lake(tmp_path), tmp_path / "topic.jsonl"
    lines = [message("INSERT", number, {"id": number}) for number in range(3)]
    given: dict[str, Any] = {"format": FORMAT, "row_schema": "json", **lake.places}
    file.write_bytes(b"\n".join([*lines[:2], b"{", b""]))
    apply_changes(str(file), **given)
    file.write_bytes(b"\n".join([*lines[:2], b"{", lines[2], b""]))
    outcome = apply_changes(str(file), **given)
    assert (outcome.counts.elements, outcome.already_in_log) == (4, 3)
    assert outcome.tables == {"inserted": 1}
    places = [(row["kind"], row["path"], row["number"]) for row in lake.log()]
    kinds = ["change", "change", "dead_letter", "change"]
    assert sorted(places, key=lambda one: one[2]) == [
        (kind, str(file), number) for number, kind in enumerate(kinds)
    ]
    assert sorted(lake.json_rows()) == [0, 1, 2]


def test_a_repaired_file_gets_into_the_table(tmp_path: Path) -> None:
    """What is a dead letter of other bytes in the log is read again, once, and closes it."""
    lake, file = Lake(tmp_path), tmp_path / "topic.jsonl"
    lines = [message("INSERT", number, {"id": number}) for number in range(3)]
    given: dict[str, Any] = {"format": FORMAT, "row_schema": "json", **lake.places}
    file.write_bytes(b"\n".join([lines[0], b"\xff" + lines[1], lines[2][:-1]]))
    assert apply_changes(str(file), **given).tables == {"inserted": 1}
    assert len(cwa.dead_letters(lake.places["log"])) == 2
    file.write_bytes(b"\n".join([lines[1], lines[1], lines[2][:-2]]))
    repaired = apply_changes(str(file), **given)
    assert (repaired.tables, repaired.already_in_log) == ({"inserted": 1}, 1)
    assert sorted(lake.json_rows()) == [0, 1]
    before = versions(lake)
    assert apply_changes(str(file), **given).already_in_log == 3
    assert versions(lake) == before
    attempts = sorted((row["number"], row["attempt"], row["kind"]) for row in lake.log())
    assert attempts == [
        *((0, 0, "change"), (1, 0, "dead_letter"), (1, 1, "change")),
        *((2, 0, "dead_letter"), (2, 1, "dead_letter")),
    ]
    letters = cwa.dead_letters(lake.places["log"]).to_pylist()
    assert [(one["number"], one["value"]) for one in letters] == [(2, lines[2][:-2])]


def test_a_run_by_another_format_reads_dead_letters_again(tmp_path: Path) -> None:
    """A file that was read by a wrong format gets into log and table, its bytes unchanged."""
    lake, file = Lake(tmp_path), tmp_path / "topic.jsonl"
    file.write_bytes(message("INSERT", 1, {"id": 1}))
    given: dict[str, Any] = {"row_schema": "json", **lake.places}
    apply_changes(str(file), format="lindorm-json", **given)
    assert [row["kind"] for row in lake.log()] == ["dead_letter"]
    outcome = apply_changes(str(file), format=FORMAT, **given)
    assert (outcome.tables, outcome.already_in_log) == ({"inserted": 1}, 0)
    assert len(cwa.dead_letters(lake.places["log"])) == 0


def test_a_refusal_of_a_later_attempt_is_open(tmp_path: Path) -> None:
    """A row says why no table takes a change, and is of the same attempt as the change."""
    lake = Lake(tmp_path)
    lake.apply_records(records(message("INSERT", 1, {"id": 1}, table="T"), b"{"))
    collides = message("INSERT", 1, {"id": 1}, table="t")
    lake.apply_records(records(message("INSERT", 1, {"id": 1}, table="T"), collides))
    kinds = [(row["offset"], row["kind"], row["attempt"]) for row in lake.log()]
    assert sorted(kinds)[1:] == [(1, "change", 1), (1, "dead_letter", 0), (1, "refused", 1)]
    assert len(cwa.refused(lake.places["log"])) == 1


def test_values_that_rpk_printed_are_rows(tmp_path: Path) -> None:
    """A record of rpk has its value in the table, and deletes nothing for want of a payload."""
    lake, file = Lake(tmp_path), tmp_path / "topic.json"
    keys = [["test", "t", f"{'A' * 26}{letter}=", number] for number, letter in enumerate("EI")]
    bins = [{"name": "age", "type": "int", "value": 41}]
    writes = [
        {"msg": "write", "key": key, "gen": 1, "exp": 0, "lut": 1, "bins": bins} for key in keys
    ]
    delete = {"msg": "delete", "key": [*keys[0][:3], None], "durable": False, "lut": 3, "gen": 2}
    shown = [
        {
            "topic": "t",
            "key": json.dumps(one["key"]),
            "value": json.dumps(one),
            "timestamp": 1_700_000_000_000,
            "partition": 0,
            "offset": number,
        }
        for number, one in enumerate([*writes, delete])
    ]
    file.write_text("\n".join(json.dumps(one, indent=2) for one in shown), encoding="utf-8")
    rows = {"format": "aerospike-json", "row_schema": "json", "tombstones": "delete"}
    given: dict[str, Any] = {**rows, **lake.places}
    outcome = apply_changes(str(file), **given)
    assert outcome.counts.as_dict()["by_operation"] == {"upsert": 2, "delete": 1}
    live = [row for row in lake.rows() if not row["_changewire"]["deleted"]]
    assert [json.loads(row["row"]) for row in live] == [{"aerospike_digest": keys[1][2], "age": 41}]
    del shown[1]["value"]
    shown[1]["offset"] = 9
    file.write_text(json.dumps(shown[1]), encoding="utf-8")
    tables = {"deleted": 1, "sequence_inherited": 1}
    assert apply_changes(str(file), **given).tables == tables


def test_files_are_known_by_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has one name, wherever a run is started."""
    lake = Lake(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(message("INSERT", 1, {"id": 1}))
    given: dict[str, Any] = {"format": FORMAT, "row_schema": "json", **lake.places}
    apply_changes(tmp_path / "a.jsonl", **given)
    monkeypatch.chdir(tmp_path)
    outcome = apply_changes("./a.jsonl", **given)
    assert (outcome.tables, outcome.already_in_log) == ({}, 1)


def test_an_element_that_comes_twice_is_logged_once(tmp_path: Path) -> None:
    """Also if both are in one batch."""
    lake = Lake(tmp_path)
    outcome = lake.apply_records(records(message("INSERT", 1, {"id": 1})) * 2)
    assert (outcome.tables, outcome.already_in_log) == ({"inserted": 1}, 1)
    assert len(lake.log()) == 1


@pytest.mark.parametrize(
    "given", [[b"{}"], recorded([(b"{}", "topic", 0, None)]), recorded([(b"{}", None, 0, 1)])]
)
def test_messages_need_positions(tmp_path: Path, given: Any) -> None:
    """Without them the log could not know an element again: a sentence says what to give."""
    lake = Lake(tmp_path)
    with pytest.raises(ValueError, match=r"messages need positions.*path and number"):
        apply_changes(given, format=FORMAT, **lake.places)


def test_standard_input_has_no_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has another standard input, so its numbers name nothing."""
    lake, file = Lake(tmp_path), tmp_path / "in"
    file.write_bytes(message("INSERT", 1, {"id": 1}))
    with file.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(ValueError, match="not standard input"):
            apply_changes("-", format=FORMAT, **lake.places)


def test_tables_of_another_target_get_the_whole_log(tmp_path: Path) -> None:
    """A log may feed two targets; what it has and the new one lacks is merged first."""
    lake = Lake(tmp_path)
    lake.apply_records(messages())
    other = Lake(tmp_path / "other")
    places = {"log": lake.places["log"], "target": other.places["target"]}
    outcome = other.apply_records(messages(), **places)
    assert other.content() == lake.content()
    assert outcome.already_in_log == len(messages())
    again = other.apply_records(
        records(message("INSERT", 50, {"id": 50}, table="T"), start=50), **places
    )
    lake.apply_records([])
    assert again.tables == {"inserted": 1}
    assert other.content() == lake.content()


def test_a_writer_that_comes_first_is_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it appended to the log meanwhile is merged first, and nothing is in the log twice."""
    lake, beside = Lake(tmp_path), Lake(tmp_path / "beside")
    lake.apply_records(records(message("INSERT", 1, {"id": 1})))
    lacking, others = LocalLog.lacking, records(message("INSERT", 2, {"id": 2}), start=9)

    def first(log: LocalLog, rows: Any) -> Any:
        found = lacking(log, rows)
        monkeypatch.setattr(LocalLog, "lacking", lacking)
        target = beside.places["target"]
        beside.apply_records(others, log=lake.places["log"], target=target)
        return found

    monkeypatch.setattr(LocalLog, "lacking", first)
    monkeypatch.setattr("changewire.engines.retries._FIRST_WAIT", 0)
    lake.apply_records([*others, *records(message("INSERT", 3, {"id": 3}), start=20)])
    assert sorted(lake.json_rows()) == [1, 2, 3]
    assert sorted(row["offset"] for row in lake.log()) == [0, 9, 20]


def test_a_writer_that_comes_before_refused_changes_is_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it appended to the log is not taken for merged, and the next run merges it."""
    lake, beside = Lake(tmp_path), Lake(tmp_path / "beside")
    others = records(message("INSERT", 2, {"id": 2}, table="V"), start=90)
    refused = LocalLog.append_refused

    def first(log: LocalLog, rows: Any) -> None:
        monkeypatch.setattr(LocalLog, "append_refused", refused)
        target = beside.places["target"]
        beside.apply_records(others, log=lake.places["log"], target=target)
        refused(log, rows)

    monkeypatch.setattr(LocalLog, "append_refused", first)
    lake.apply_records(messages())
    assert lake.apply_records([]).tables == {"inserted": 1}
    assert sorted(row["offset"] for row in lake.log("change")) == [*range(8), 90]


def test_a_log_that_was_compacted_is_not_merged_again(tmp_path: Path) -> None:
    """Commits that bring no rows are passed over, and elements are found in the new files."""
    lake = Lake(tmp_path)
    for number in range(3):
        told_now = records(message("INSERT", number, {"id": number}), start=number)
        lake.apply_records(told_now)
    DeltaTable(lake.places["log"]).optimize.compact()
    DeltaTable(f"{lake.root}/tables/t").optimize.compact()
    before = versions(lake)
    again = records(*(message("INSERT", number, {"id": number}) for number in range(3)))
    outcome = lake.apply_records(again)
    assert (outcome.tables, outcome.already_in_log) == ({}, 3)
    assert versions(lake) == before
    late = records(message("UPDATE_AFTER", 0, {"id": 2}), message("DELETE", 9, {"id": 0}), start=9)
    lake.apply_records(late)
    assert sorted(lake.json_rows()) == [1, 2]


def test_a_run_begins_with_few_columns_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of keys, rows and messages it takes no text, and it knows all the same what they were."""
    lake, parts = Lake(tmp_path), []
    row = {"id": 1, "name": "a" * 100_000}
    lake.apply_records(records(message("INSERT", 5, row), message("DELETE", 7, row), b"{" * 9999))
    read = LocalLog.merged_rows

    def seen(log: LocalLog, *given: Any, **options: Any) -> Any:
        for part in read(log, *given, **options):
            parts.append(part)
            yield part

    with monkeypatch.context() as patch:
        patch.setattr(LocalLog, "merged_rows", seen)
        run = lake.run(apply_truncates=True)
        late = placed(change(key=1, sequence=6, a=1), change(key=2, sequence=6), start=9)
        assert run.apply(recorded(records_of(late)), "auto", 10).tables == {"inserted": 1}
    assert [len(part) for part in parts] == [2]
    assert parts[0].nbytes < 1000


def test_threads_of_arrow_call_no_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that calls a file system of Python's as the interpreter ends aborts the process."""
    lake, calls = Lake(tmp_path), list[object]()
    lake.apply_records(messages())
    monkeypatch.setattr(pyarrow.fs, "PyFileSystem", calls.append)
    again = records(message("UPDATE_AFTER", 30, {"id": 2}, table="T"), start=50)
    assert lake.apply_records(again).tables == {"updated": 1}
    assert calls == []


def test_a_log_of_other_columns_is_refused(tmp_path: Path) -> None:
    """Nothing is written to a table that is not a log."""
    lake = Lake(tmp_path)
    lake.apply_records(records(message("INSERT", 1, {"id": 1})))
    with pytest.raises(Exception, match=r"tables/t: a column kind of type string is needed"):
        lake.apply_records(messages(), log=f"{tmp_path}/tables/t")
