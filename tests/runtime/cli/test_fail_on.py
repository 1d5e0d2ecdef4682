"""Exit codes of ``changewire run`` by ``--fail-on``, and what is said of changes in no table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.cli.conftest import SPARK_SELDOM, Ended, json_lines
from tests.runtime.engines.merge.messages import message

Cli = Callable[..., Ended]

WIDE = {"id": "STRING", "name": "STRING"}
"""Types of the columns of messages that do not fit a table."""

GOOD = [message("INSERT", n, {"id": n}) for n in (1, 2)]
LETTERS = [b"{}", b"[]"]
KEYLESS = [
    one.replace(b'"primaryKey": ["id"]', b'"primaryKey": null')
    for one in (message("INSERT", n, {"name": "a"}, table="loose") for n in (1, 2))
]
REFUSED = [message("INSERT", n, {"id": str(n)}, types=WIDE) for n in (3, 4)]


@pytest.fixture
def run(
    engine: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ended]:
    """Merge messages into tables, of which one file has each call's, by an engine."""
    monkeypatch.chdir(tmp_path)

    def once(values: Iterable[bytes], *arguments: str) -> Ended:
        file = tmp_path / f"in-{len([*tmp_path.iterdir()])}.jsonl"
        file.write_bytes(b"\n".join(values))
        places = ("-o", "out", "--target", "lake/{table}", "--row-schema", "auto")
        return cli(*("run", "-f", "dataworks-json", "--engine", engine, *places, *arguments, file))

    return once


def words(ended: Ended) -> str:
    """Return what a command said to people, with single spaces."""
    return " ".join(ended.stderr.split())


@SPARK_SELDOM
def test_a_table_of_which_all_changes_are_refused_fails_a_run(run: Callable[..., Ended]) -> None:
    """Its name, the first reason, its key and the next command are said; the report has them."""
    assert run(GOOD).exit_code == 0
    ended = run([*REFUSED, *KEYLESS, message("INSERT", 9, {"id": 9}, table="other")])
    assert ended.exit_code == 1
    shown = words(ended)
    assert "4 changes are in no table" in shown
    why = "schema-mismatch: /key/id: expected bigint, found string"
    assert f"d.t: 2 of 2 changes; first refused for {why} (key: id)" in shown
    assert "d.loose: 2 of 2 changes; 2 have no key, whose columns --key-column names" in shown
    assert "d.other: 1 change: 1 inserted" in shown
    assert "d.other" not in shown.partition("4 changes are in no table")[2]
    assert "to see why: changewire dead-letters out --refused exit code 1" in shown
    report = json.loads(Path("out/report.json").read_text("utf-8"))
    refusal = {"code": "schema-mismatch", "message": why, "key_columns": ["id"]}
    nothing = {"changes": 2, "refused": 0, "key_missing": 0, "first_refusal": None}
    assert report["changes_by_table"] == {
        "d.t": {**nothing, "refused": 2, "first_refusal": refusal},
        "d.loose": {**nothing, "key_missing": 2},
        "d.other": {**nothing, "changes": 1, "inserted": 1},
    }
    assert "<h1>4 changes are in no table</h1>" in Path("out/report.html").read_text("utf-8")


@SPARK_SELDOM
def test_a_table_that_took_one_change_warns(run: Callable[..., Ended]) -> None:
    """The exit code is 0; with ``--json`` the warning is a note. Good changes have no warning."""
    assert "no table" not in words(run(GOOD))
    ended = run([*REFUSED, message("INSERT", 9, {"id": 9})], "--json")
    assert ended.exit_code == 0
    assert json.loads(ended.stdout)["changes_by_table"]["d.t"]["refused"] == 2
    notices = json_lines(ended.stderr)
    (note,) = (one for one in notices if "in no table" in one["message"])
    assert note["notice"] == "note"
    assert "changewire dead-letters out --refused" in note["message"]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ((*GOOD,), {"never": 0, "all": 0, "unapplied": 0, "dead-letters": 0, "50%": 0}),
        ((*GOOD, *LETTERS), {"never": 0, "all": 0, "unapplied": 0, "dead-letters": 1, "40%": 1}),
        ((*LETTERS,), {"never": 0, "all": 1, "unapplied": 0, "dead-letters": 1, "99%": 1}),
        ((*GOOD, *KEYLESS), {"never": 0, "all": 1, "unapplied": 1, "dead-letters": 1, "50%": 0}),
    ],
)
def test_a_run_fails_as_it_is_asked(
    cli: Cli, tmp_path: Path, values: tuple[bytes, ...], codes: dict[str, int]
) -> None:
    """Each value of the option has its rule, for dead letters and for changes without key."""
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"\n".join(values))
    found: dict[str, Any] = {}
    for number, rule in enumerate(codes):
        output = tmp_path / f"out-{number}"
        places = ("-o", output, "--target", f"{output}/{{table}}", "--row-schema", "json")
        ended = cli("run", "-f", "dataworks-json", *places, "--fail-on", rule, file)
        found[rule] = ended.exit_code
        assert f"exit code {ended.exit_code} (--fail-on {rule})" in ended.stderr
    assert found == codes


def test_messages_of_which_none_can_be_read_fail_a_run(cli: Cli, tmp_path: Path) -> None:
    """Without tables too; the first reason with its place, and the next command, are said."""
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"\n".join(LETTERS))
    ended = cli("run", "-f", "dataworks-json", "-o", tmp_path / "my out", file)
    assert ended.exit_code == 1
    shown = words(ended)
    assert "not one of 2 elements could be read" in shown
    assert f"path {file}, number 0, element 0: dataworks-json: " in shown
    assert f"to see why: changewire dead-letters '{tmp_path / 'my out'}'" in shown
