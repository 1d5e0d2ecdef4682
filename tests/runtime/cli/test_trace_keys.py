"""``changewire trace`` finds the changes of one row, and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.runtime.changes.dataworks import message
from tests.runtime.cli.conftest import json_lines
from tests.runtime.cli.trace_logs import log_of_changes

import changewire as cw

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


def test_batches_of_a_stream_are_told_in_their_order(
    cli: Callable[..., Ended], tmp_path: Path
) -> None:
    """A log of a stream in Parquet says in which batch a change came, whatever its offset."""
    for batch, sequence in ((10, 1), (9, 2)):
        log_of_changes(
            tmp_path / "query=q" / f"batch={batch}",
            {"key": '{"d":7}', "after": "{}", "sequence": {"major": sequence, "minor": 0}},
        )
    *steps, _ = json_lines(cli("trace", tmp_path, "d=7", "--json").stdout)
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
    """Dead letters of the key are told with what is wrong; those that were replayed are not."""
    source = {"system": "dataworks", "database": "shop", "schema": None, "table": "users"}
    row = {"key": '{"id":1}', "after": '{"id":1,"name":"a"}', "source": source, "path": "f"}
    log_of_changes(tmp_path / "changes", row)
    good = {"id": 1, "name": "c"}
    place = {"topic": None, "partition": None, "offset": None, "path": "f", "element": 0}
    letters: list[dict[str, Any]] = [
        {"value": encoded(good), "format": "dataworks-json", "replayed": None},
        {"value": encoded(good), "format": "dataworks-json", "replayed": 1},
        {"value": encoded({"id": 2}), "format": "dataworks-json", "replayed": None},
        {"value": encoded(good), "format": "of-another-version", "replayed": None},
        {"value": b"{", "format": "dataworks-json", "replayed": None},
    ]
    why = {"code": "schema-mismatch", "message": "/after: 'name' is a number"}
    rows = [{**why, **place, "number": 7 + i, **letter} for i, letter in enumerate(letters)]
    (tmp_path / "dead_letters").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dead_letters" / "a.parquet")
    first, second, end = json_lines(cli("trace", tmp_path, "id=1", "--json").stdout)
    assert (first["reason"], second["reason"], second["offset"]) == (None, "dead-letter", 7)
    assert second["detail"] == why["message"]
    assert (end["table"], end["row"]) == ("shop.users", {"name": "a"})
    assert "! no table takes it: /after: 'name'" in cli("trace", tmp_path, "id=1").stdout


def encoded(row: dict[str, Any]) -> bytes:
    """Return the message of an insert."""
    return cw.encode(message("INSERT", after=row))


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
