"""``changewire trace``: how one row came to be what it is, from a change log without Spark."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from tests.runtime.cli.conftest import json_lines
from tests.runtime.cli.trace_logs import history, log_of_changes

from changewire.cli.traced import REASONS, VERDICTS
from changewire.engines.changelog.target import Verdict
from changewire.tables.history import Reason

if TYPE_CHECKING:
    from tests.runtime.cli.conftest import Ended

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run in Python."""
    return history(tmp_path_factory.mktemp("trace"))


def test_it_tells_what_each_change_did(cli: Callable[..., Ended], output: Path) -> None:
    """Each change has a line with its place, and what it did to columns or why it did nothing."""
    ended = cli("trace", output, "id=1")
    assert ended.exit_code == 0
    assert "--apply-truncates: 1 truncate of the table" in ended.stderr
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
    ended = cli("trace", output, "id=1", "--apply-truncates", "--json")
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
    ended = cli("trace", output / "log", *key, "--json")
    assert json_lines(ended.stdout)[-1]["row"] == {"name": "b"}


WRONG: dict[str, tuple[list[str], int, str]] = {
    "no such key": (["id=7"], 1, "no change of this key: its keys have id"),
    "another table": (
        ["id=1", "--table", "shop.orders"],
        1,
        "the log has no table shop.orders; it has: shop.users\n",
    ),
    "no such key of a table": (
        ["id=7", "--table", "shop.users"],
        1,
        "no change of this key: keys of shop.users have id\n",
    ),
    "text is no number": (['{"id": "1"}'], 1, "no change of this key"),
    "a column twice": (["id=77", "id=1"], 2, "'id' is given twice"),
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


def test_keys_are_those_of_their_own_table(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """In a log of several tables each is named with its key columns, and no more than ten."""

    def row(table: str, key: str | None) -> dict[str, Any]:
        source = {"system": "s", "database": "ns", "schema": None, "table": table}
        return {"source": source, "key": key, "after": "{}"}

    keys = {"a": '{"id": 1}', "b": '{"order": 1, "line": 2}', "c": None}
    log = log_of_changes(tmp_path / "log", *(row(name, key) for name, key in keys.items()))
    said = cli("trace", log, "nr=1").stderr
    assert "no change of this key; keys of its tables: ns.a (id), ns.b (order, line)" in said
    assert "keys of ns.b have order, line" in cli("trace", log, "id=1", "--table", "ns.b").stderr
    assert cli("trace", log, "id=1", "--table", "ns.c").stderr.endswith("of this key\n")
    many = log_of_changes(tmp_path / "many", *(row(f"t{i}", '{"id": 1}') for i in range(12)))
    unknown = cli("trace", many, "id=1", "--table", "nosuch").stderr.replace("\n", " ")
    assert unknown.startswith("the log has no table nosuch; it has: ns.t0, ns.t1, ")
    assert unknown.endswith(", ns.t9 and 2 others ")


def test_what_is_no_change_log_is_refused(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """Other tables, rows that are no JSON text and damaged files are one sentence each."""
    pq.write_table(pa.table({"key": ["a"]}), tmp_path / "a.parquet")
    assert "has no column 'kind'" in cli("trace", tmp_path, "id=1").stderr
    text = log_of_changes(tmp_path / "text", {"key": "[", "after": "{}"})
    assert "is not a JSON object" in cli("trace", text, "id=1").stderr
    number = log_of_changes(tmp_path / "number", {"key": 1, "after": "{}"})
    assert "is not a JSON object" in cli("trace", number, "id=1").stderr
    row = pq.read_table(text / "a.parquet")
    (tmp_path / "typed").mkdir()
    typed = row.drop_columns(["after"]).append_column("after", pa.array([{"a": 1}]))
    pq.write_table(typed, tmp_path / "typed" / "a.parquet")
    assert "no log with rows as JSON text" in cli("trace", tmp_path / "typed", "id=1").stderr
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    assert "cannot be read as a table" in cli("trace", tmp_path, "id=1").stderr


@pytest.fixture(scope="module")
def delta(output: Path) -> Path:
    """The same log as a Delta table, whose rows came in two commits."""
    log = ds.dataset(output / "log").to_table()
    folder = output.parent / "delta"
    for part in (log.slice(3), log.slice(0, 3)):
        write_deltalake(folder / "log", part, mode="append")
    return folder


def test_a_delta_log_gives_the_same(cli: Callable[..., Ended], output: Path, delta: Path) -> None:
    """A log in Delta is read at its newest version, and told by position however it was written."""
    by_parquet, by_delta = (cli("trace", folder, "id=1") for folder in (output, delta))
    assert by_parquet.stdout == by_delta.stdout


def test_threads_of_arrow_call_no_python(
    cli: Callable[..., Ended], delta: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that calls a file system of Python's as the interpreter ends aborts the process."""
    calls: list[object] = []
    monkeypatch.setattr(pyarrow.fs, "PyFileSystem", calls.append)
    assert (cli("trace", delta, "id=1").exit_code, calls) == (0, [])


def test_delta_needs_its_extra(
    cli: Callable[..., Ended], delta: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without deltalake the command names the extra, and does not read files that are no more."""
    monkeypatch.setitem(sys.modules, "deltalake", None)
    ended = cli("trace", delta, "id=1")
    assert (ended.exit_code, 'pip install "./changewire[delta]"' in ended.stderr) == (2, True)


def test_the_page_explains_each_reason() -> None:
    """The page lists the reasons and the verdicts that there are."""
    text = PAGE.read_text(encoding="utf-8").partition("## trace")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)
    assert listed == [*REASONS, *VERDICTS]
    assert {*REASONS} == {*get_args(Reason)}
    assert {*VERDICTS} == {*get_args(Verdict)}
