"""``changewire trace`` finds the changes of one row, and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.runtime.cli.conftest import json_lines
from tests.runtime.cli.trace_logs import log_of_changes

if TYPE_CHECKING:
    from tests.runtime.cli.conftest import Ended


def test_a_key_of_several_tables(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """The table must be named; a delete that names none is of each table of its database."""
    source = {"system": "aerospike", "database": "ns", "schema": None}
    log = log_of_changes(
        tmp_path / "log",
        *({"key": '{"d":"k"}', "after": "{}", "source": {**source, "table": t}} for t in "ab"),
        {
            "key": '{"d":"k"}',
            "after": None,
            "op": "delete",
            "source": {**source, "table": None},
            "sequence": {"major": 2, "minor": 0},
        },
    )
    ended = cli("trace", log, "d=k")
    assert (ended.exit_code, "ns.a, ns.b" in ended.stderr) == (2, True)
    for name in ("ns.a", "ns.b"):
        *steps, _ = json_lines(cli("trace", log, "d=k", "--table", name, "--json").stdout)
        assert [step["op"] for step in steps] == ["upsert", "delete"]


def test_a_replay_is_told_after_what_it_came_after(
    cli: Callable[..., Ended], tmp_path: Path
) -> None:
    """What was replayed stands last, whatever its offset, and once."""
    key = {"key": '{"d":7}', "after": "{}", "path": "f"}
    late = {**key, "number": 0, "sequence": {"major": 1, "minor": 0}}
    newer = {**key, "number": 1, "sequence": {"major": 2, "minor": 0}}
    why = {"kind": "refused", "message": "schema-mismatch: /after: 'name' is a number"}
    log = log_of_changes(tmp_path / "log", late, {**late, **why}, newer, {**late, "attempt": 1})
    *steps, _ = json_lines(cli("trace", log, "d=7", "--json").stdout)
    assert [(step["sequence"]["major"], step["reason"]) for step in steps] == [
        (2, None),
        (1, "older-than-row"),
    ]


def test_a_value_of_two_kinds(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """Where text and number are both keys, the one that is meant must be given as JSON."""
    log = log_of_changes(
        tmp_path / "log", {"key": '{"d":7}', "after": "{}"}, {"key": '{"d":"7"}', "after": "{}"}
    )
    assert 'may be any of {"d":"7"}, {"d":7}' in cli("trace", log, "d=7").stderr
    assert cli("trace", log, '{"d":7}').exit_code == 0


def test_what_depends_on_batches_is_said(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """A change without a sequence inherits one; where batches matter, both rows are told."""
    place = {"topic": "t", "offset": 5, "path": None, "number": None}
    log = log_of_changes(
        tmp_path / "log",
        {"key": '{"d":7}', "after": '{"a":1}', "partition": 0, **place},
        {"key": '{"d":7}', "after": '{"a":2}', "partition": 1, "sequence": None, **place},
    )
    ended = cli("trace", log, "d=7")
    assert "sequence 1.1 (taken from before)" in ended.stdout
    assert ended.stdout.endswith('the row would be {"a":1}\n')
    end = json_lines(cli("trace", log, "d=7", "--json").stdout)[-1]
    assert (end["depends_on_batches"], end["row"], end["row_in_one_batch"]) == (
        True,
        {"a": 2},
        {"a": 1},
    )


def test_changes_that_no_table_took(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """Refused changes are told in their place with what is wrong, and have no effect."""
    row = {"key": '{"id":1}', "after": '{"id":1,"name":"a"}', "path": "f"}
    why = {"kind": "refused", "message": "/after: 'name' is a number"}
    wrong = {**row, "after": '{"id":1,"name":"c"}', "sequence": {"major": 2, "minor": 0}}
    changes = [{**row, "number": 6}, {**wrong, "number": 7}, {**wrong, **why, "number": 7}]
    log = log_of_changes(tmp_path / "log", *changes)
    first, second, end = json_lines(cli("trace", log, "id=1", "--json").stdout)
    assert (first["reason"], second["reason"], second["offset"]) == (None, "refused", 7)
    assert second["detail"] == why["message"]
    assert (end["table"], end["row"]) == ("ns.t", {"name": "a"})
    assert "! the table refuses it: /after: 'name'" in cli("trace", log, "id=1").stdout


def test_before_images_that_came_alone(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """One deletes its row if its after image has another key; until that is known it waits."""
    row = {"key": '{"id":1}', "after": '{"id":1}', "path": "f"}
    before = {"key": '{"id":1}', "op": "update", "before": '{"id":1}', "after": None, "path": "f"}
    waits = {**before, "sequence": {"major": 2, "minor": 0}}
    after = {"key": '{"id":2}', "op": "update", "after": '{"id":2}', "path": "f"}
    log = log_of_changes(tmp_path / "log", row, waits)
    *_, step, _ = json_lines(cli("trace", log, "id=1", "--json").stdout)
    assert (step["reason"], step["op"]) == ("before-image-waits", "update")
    moved = log_of_changes(
        tmp_path / "moved", row, waits, {**after, "sequence": {"major": 2, "minor": 1}}
    )
    *_, step, end = json_lines(cli("trace", moved, "id=1", "--json").stdout)
    assert (step["reason"], step["kind"], end["row"]) == (None, "delete", None)


def test_nothing_in_a_log_acts_on_a_terminal(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """Operations, places, columns, values and keys come out escaped."""
    bad = "\x9b2J\u202e"
    row = {"after": f'{{"{bad}":"{bad}"}}', "op": f"upsert{bad}", "path": bad}
    log = log_of_changes(
        tmp_path / "log", {"key": f'{{"d":"{bad}"}}', **row}, {"key": '{"d":1}', **row}
    )
    for words in ([f"d={bad}"], ["d=1"], ["d=1", "--json"], ["e=1"]):
        ended = cli("trace", log, *words)
        assert not {*bad} & {*ended.stdout + ended.stderr} - {*"2J"}
