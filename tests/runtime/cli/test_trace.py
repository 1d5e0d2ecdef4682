"""``changewire trace``: how one row came to be what it is, from a change log without Spark."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from tests.runtime.changes.dataworks import message
from tests.runtime.cli.conftest import json_lines

import changewire as cw
from changewire.changes.reading import Reading
from changewire.cli.traced import REASONS, VERDICTS
from changewire.engines.changelog import Verdict
from changewire.engines.python import run
from changewire.tables.history import Reason
from changewire.tables.metadata import metadata_of
from changewire.tables.order import Order, Position
from changewire.tables.state import full_image

if TYPE_CHECKING:
    from tests.runtime.cli.conftest import Ended

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"
TYPES = {"id": "LONG", "name": "STRING", "price": "DOUBLE"}
HISTORY = [
    ("INSERT", 10, {"after": {"id": 1, "name": "a", "price": "9.90"}}),
    ("INSERT", 11, {"after": {"id": 2, "name": "b"}}),
    ("UPDATE_AFTER", 13, {"before": {"id": 1}, "after": {"id": 1, "name": "c\x1b[31m"}}),
    ("UPDATE_AFTER", 12, {"before": {"id": 1}, "after": {"id": 1, "name": "late"}}),
    ("TRUNCATE", 14, {}),
    ("INSERT", 9, {"after": {"id": 1, "name": "older"}}),
]
"""Operation, sequence and images of messages, in their order."""


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run in Python."""
    folder = tmp_path_factory.mktemp("trace")
    lines = [
        cw.encode(message(op, TYPES, sequenceId=str(number), **images))
        for op, number, images in HISTORY
    ]
    (folder / "topic.jsonl").write_bytes(b"\n".join(lines))
    out = folder / "out"
    run([str(folder / "topic.jsonl")], str(out), reading=Reading("dataworks-json"))
    return out


def test_it_tells_what_each_change_did(cli: Callable[..., Ended], output: Path) -> None:
    """Each change has a line with its place, and what it did to columns or why it did nothing."""
    ended = cli("trace", output, "id=1")
    assert ended.exit_code == 0
    text = ended.stdout.replace(str(output.parent), "")
    assert text.splitlines() == [
        'shop.users {"id":1}',
        "1  /topic.jsonl, record 0  insert  (full)  sequence 10.1  2021-05-08T07:11:36+00:00",
        '     name: (absent) -> "a"',
        '     price: (absent) -> "9.90"',
        "2  /topic.jsonl, record 2  update  (full)  sequence 13.1  2021-05-08T07:11:36+00:00",
        '     name: "a" -> "c\\u001b[31m"',
        '     price: "9.90" -> (absent)',
        "3  /topic.jsonl, record 3  update  (full)  sequence 12.1  2021-05-08T07:11:36+00:00",
        "     ! the row is newer: sequence 13.1, /topic.jsonl, record 2 (older-than-row)",
        "4  /topic.jsonl, record 5  insert  (full)  sequence 9.1  2021-05-08T07:11:36+00:00",
        "     ! the row is newer: sequence 13.1, /topic.jsonl, record 2 (older-than-row)",
        "4 changes, 2 applied",
        'now: {"name":"c\\u001b[31m"}',
    ]


def test_truncates_are_told_where_they_were_applied(
    cli: Callable[..., Ended], output: Path
) -> None:
    """The truncate of the table ends the row, and refuses what is older; lines are JSON."""
    ended = cli("trace", output, "id=1", "--apply-as-truncates", "--json")
    *steps, end = json_lines(ended.stdout)
    assert [(step["op"], step["reason"]) for step in steps] == [
        ("insert", None),
        ("update", None),
        ("update", "older-than-row"),
        ("truncate", None),
        ("insert", "older-than-truncate"),
    ]
    assert steps[2]["newer"]["sequence"] == {"major": 13, "minor": 1}
    assert steps[3]["columns"] == {"name": {"before": "c\x1b[31m"}}
    assert end["row"] is None
    assert (end["table"], end["key"], end["target"]) == ("shop.users", {"id": 1}, None)


@pytest.mark.parametrize("key", [["id=2"], ['{"id": 2}'], ['{"id": 2.0}']])
def test_a_key_may_be_given_as_json(
    cli: Callable[..., Ended], output: Path, key: list[str]
) -> None:
    """Numbers are what they are worth; a bare value may be meant as text or as JSON."""
    ended = cli("trace", output / "changes", *key, "--json")
    assert json_lines(ended.stdout)[-1]["row"] == {"name": "b"}


WRONG: dict[str, tuple[list[str], int, str]] = {
    "no such key": (["id=7"], 1, "no change of this key: its keys have id"),
    "another table": (["id=1", "--table", "shop.orders"], 1, "no change of this key"),
    "text is no number": (['{"id": "1"}'], 1, "no change of this key"),
    "no key": (["id"], 2, "column=value"),
    "an empty key": (["{}"], 2, "at least one column"),
    "no JSON": (["{7"], 2, "no JSON object"),
    "no target": (["id=1", "--target", "lake.shop.users"], 2, "table of a catalog"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_there_is_named(cli: Callable[..., Ended], output: Path, name: str) -> None:
    """A key that is not in the log ends with 1, wrong usage with 2, each with one sentence."""
    words, code, text = WRONG[name]
    ended = cli("trace", output, *words)
    assert (ended.exit_code, text in ended.stderr) == (code, True), ended.stderr


def test_what_is_no_change_log_is_refused(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """Other tables, rows that are no JSON text and damaged files are one sentence each."""
    pq.write_table(pa.table({"key": ["a"]}), tmp_path / "a.parquet")
    assert "has no column 'before_key'" in cli("trace", tmp_path, "id=1").stderr
    names = ("key", "before_key", "before", "after", "attributes")
    pq.write_table(pa.table({name: ["["] for name in names}), tmp_path / "a.parquet")
    assert "a row of it is no JSON object" in cli("trace", tmp_path, "id=1").stderr
    pq.write_table(pa.table({name: [1] for name in names}), tmp_path / "a.parquet")
    assert "'key' is no JSON text" in cli("trace", tmp_path, "id=1").stderr
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    assert "cannot be read as a table" in cli("trace", tmp_path, "id=1").stderr


@pytest.fixture(scope="module")
def delta(output: Path) -> Path:
    """The same change log as a Delta table, whose rows came in two commits."""
    log = ds.dataset(output / "changes").to_table()
    folder = output.parent / "delta"
    for part in (log.slice(3), log.slice(0, 3)):
        write_deltalake(folder / "change_log", part, mode="append")
    return folder


def test_a_delta_log_gives_the_same(cli: Callable[..., Ended], output: Path, delta: Path) -> None:
    """A log in Delta is read at its newest version, and told by position however it was written."""
    by_parquet, by_delta = (cli("trace", folder, "id=1") for folder in (output, delta))
    assert by_parquet.stdout == by_delta.stdout


def test_delta_needs_its_extra(
    cli: Callable[..., Ended], delta: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without deltalake the command names the extra, and does not read files that are no more."""
    monkeypatch.setitem(sys.modules, "deltalake", None)
    ended = cli("trace", delta, "id=1")
    assert (ended.exit_code, 'pip install "changewire[delta]"' in ended.stderr) == (2, True)


def table(folder: Path, sequence: int, record: int, row: str) -> Path:
    """Write a table with the row of id 1 as `apply_changes` has it."""
    position = Position(str(folder.parent / "topic.jsonl"), -1, record, 0)
    state = full_image(Order((sequence, 1), position), {})
    kind = pa.struct({"major": pa.int64(), "minor": pa.int64()})
    place = {"topic": pa.string(), "partition": pa.int32(), "offset": pa.int64()}
    order = pa.struct({"sequence": kind, **place, "element": pa.int32()})
    columns = {"columns": pa.map_(pa.string(), order), "floor": order, "version": pa.int32()}
    metadata = pa.array([metadata_of(state)], pa.struct([*order, *pa.struct(columns)]))
    rows = {"key": ['{"id":1}'], "row": [row], "_changewire": metadata}
    write_deltalake(folder, pa.table(rows), mode="overwrite")
    return folder


TARGETS: dict[Verdict, tuple[int, int, str]] = {
    "same": (13, 2, '{"id":1,"name":"c\\u001b[31m","price":null}'),
    "other-values": (13, 2, '{"id":1,"name":"edited"}'),
    "other-change": (12, 3, '{"id":1,"name":"late"}'),
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_table_is_compared(cli: Callable[..., Ended], output: Path, name: Verdict) -> None:
    """The row of the table is that of the log, or was made by another change, or was edited."""
    target = table(output.parent / "target", *TARGETS[name])
    ended = cli("trace", output, "id=1", "--target", target)
    assert ended.exit_code == (0 if name == "same" else 1)
    assert f"the table {VERDICTS[name]} ({name})" in ended.stderr.replace("\n", " ")


def test_rows_that_should_not_be_there(cli: Callable[..., Ended], output: Path) -> None:
    """A table may lack the row, or have one that is no more."""
    target = table(output.parent / "target", *TARGETS["same"])
    left = cli("trace", output, "id=1", "--apply-as-truncates", "--target", target, "--json")
    assert json_lines(left.stdout)[-1]["target"] == "left-over"
    missing = cli("trace", output, "id=2", "--target", target, "--json")
    assert json_lines(missing.stdout)[-1]["target"] == "missing"


def test_the_page_explains_each_reason() -> None:
    """The page lists the reasons and the verdicts that there are."""
    text = PAGE.read_text(encoding="utf-8").partition("## trace")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)
    assert listed == [*REASONS, *VERDICTS]
    assert {*REASONS} == {*get_args(Reason)}
    assert {*VERDICTS} == {*get_args(Verdict)}


def log_of_changes(folder: Path, *rows: dict[str, Any]) -> Path:
    """Write a change log of rows."""
    base: dict[str, Any] = dict.fromkeys(
        ("before_key", "before", "event_time", "ddl", "schema_fingerprint", "topic", "partition"),
        None,
    )
    more = {"offset": None, "path": "f", "element": 0, "attributes": "{}", "op": "upsert"}
    source = {"system": "aerospike", "database": "ns", "schema": None, "table": "t"}
    sequence = {"major": 1, "minor": 1}
    full = [
        {**base, **more, "source": source, "sequence": sequence, "number": number, **row}
        for number, row in enumerate(rows)
    ]
    text = {name: pa.string() for name in ("before_key", "before", "after")}
    table = pa.Table.from_pylist(full)
    for name, kind in text.items():
        table = table.set_column(
            table.column_names.index(name), name, table.column(name).cast(kind)
        )
    folder.mkdir()
    pq.write_table(table, folder / "a.parquet")
    return folder


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
