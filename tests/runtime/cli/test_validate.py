"""``changewire validate``: every issue of every message."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.changes import dataworks
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT, examples

import changewire as cw

Cli = Callable[..., Ended]


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A file with a good message and one with two issues."""
    good: Any = examples("write")[0]
    bad = {**good, "gen": "se\x1bcret", "lut": [1] * 1000}
    path = tmp_path / "in.jsonl"
    path.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n", encoding="utf-8")
    return path


def test_every_issue_is_a_line(cli: Cli, wrong: Path) -> None:
    """A line says where, which place in the message, what was expected and what was found."""
    ended = cli("validate", "--format", FORMAT, wrong)
    gen, lut = sorted(ended.stdout.splitlines())
    assert gen.startswith(f"{wrong}, record 1: /gen: expected integer or null, found string 'se")
    assert gen.endswith("(wrong-type, type)")
    assert len(lut) < 300
    assert (ended.exit_code, ended.stderr) == (1, "2 messages, 1 with 2 issues\n")


def test_values_can_be_hidden(cli: Cli, wrong: Path) -> None:
    """With --no-values the types of wrong values are shown, and nothing of the values."""
    ended = cli("validate", "-f", FORMAT, "--no-values", wrong)
    assert "found string (wrong-type" in ended.stdout
    assert "cret" not in ended.stdout
    ended = cli("validate", "-f", FORMAT, "--no-values", "--json", wrong)
    assert {frozenset(line) for line in json_lines(ended.stdout)} == {
        frozenset({"path", "number", "pointer", "code", "rule", "expected", "actual_type"})
    }


def test_contradictions_are_issues(cli: Cli) -> None:
    """What only the schema in a message says is told as well."""
    schema = '{"dataColumn": [{"name": "id", "type": "LONG"}], "primaryKey": null, "source": null}'
    rows = '{"op": "INSERT", "after": {"dataColumn": {"id": "7"}}, "timestamp": {"eventTime": 1}}'
    data = f'{{"schema": {schema}, "payload": {rows}, "version": "0.0.1"}}'.encode()
    ended = cli("validate", "-f", "dataworks-json", data=data)
    place = "record 0: /payload/after/dataColumn/id: "
    assert f"{place}expected an integer of 64 bits, found string '7'" in ended.stdout
    assert ended.exit_code == 1
    encoded = cli("encode", "-f", "dataworks-json", data=data)
    assert (encoded.exit_code, encoded.stderr) == (0, "1 message, 0 rejected\n")
    refused = cli("encode", "-f", "dataworks-json", "--declared", data=data)
    assert "at /payload/after/dataColumn/id: expected an integer" in refused.stderr
    assert (refused.exit_code, refused.stdout) == (1, "")


def test_issues_as_json(cli: Cli, wrong: Path) -> None:
    """With --json each issue is an object on a line."""
    found = {
        line["pointer"]: line
        for line in json_lines(cli("validate", "-f", FORMAT, "--json", wrong).stdout)
    }
    assert found["/gen"] == {
        "path": str(wrong),
        "number": 1,
        "pointer": "/gen",
        "code": "wrong-type",
        "rule": "type",
        "expected": "integer or null",
        "actual_type": "string",
        "actual": r"'se\x1bcret'",
    }
    assert len(found["/lut"]["actual"]) <= 60


def test_values_act_on_no_terminal(cli: Cli, tmp_path: Path) -> None:
    """Neither a value nor a property name reaches the terminal as a control sequence."""
    message = {**examples("delete")[0], "a\x1b[2J\u202e": 1, "gen": "\x9b\u2066"}
    (tmp_path / "in").write_text(json.dumps(message, ensure_ascii=False), encoding="utf-8")
    ended = cli("validate", "-f", FORMAT, "--strict", tmp_path / "in")
    lines = ended.stdout.splitlines()
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)


def test_unknown_properties_are_issues_where_asked(cli: Cli, tmp_path: Path) -> None:
    """A property that the schema lacks passes, except in the strict check."""
    message = {**examples("delete")[0], "newer": 1}
    path = tmp_path / "in"
    path.write_text(json.dumps(message), encoding="utf-8")
    assert cli("validate", "-f", FORMAT, path).exit_code == 0
    ended = cli("validate", "-f", FORMAT, "--strict", path)
    assert ended.exit_code == 1
    assert "/newer: expected no property of this name" in ended.stdout


def test_a_tombstone_is_valid(cli: Cli, kcat: Path) -> None:
    """A record without value has no message that could be wrong."""
    assert [
        line["number"] for line in json_lines(cli("validate", "-f", FORMAT, "--json", kcat).stdout)
    ] == [2]


def test_an_array_on_one_line_names_its_shape(cli: Cli, tmp_path: Path) -> None:
    """A file that is one array is a message to the detection, and the refusal says how to read it.

    In a format with batches the line is one.
    """
    message = cw.encode(dataworks.message("INSERT", after={"id": 1}))
    (tmp_path / "in").write_bytes(b"[" + message + b", " + message + b"]\n")
    refused = cli("validate", tmp_path / "in")
    assert refused.exit_code == 1
    assert "expected object, not an array of messages" in refused.stdout
    assert "--shape json-array" in refused.stdout
    assert cli("validate", "--shape", "json-array", tmp_path / "in").exit_code == 0
    (tmp_path / "batch").write_text(json.dumps(examples("write")), encoding="utf-8")
    assert cli("validate", tmp_path / "batch").exit_code == 0


def test_keys_say_which_columns_name_the_row(cli: Cli) -> None:
    """With --key-column a column ROW of a table of SQL is no row key of HBase, in Base64 text."""
    source = '{"namespace": "n", "table": "t", "ts_ms": 1}'
    row = '{"id": 1, "ROW": "user1"}'
    payload = f'{{"op": "c", "ts_ms": 1, "after": {row}, "source": {source}}}'
    data = f'{{"payload": {payload}}}'.encode()
    ended = cli("validate", data=data)
    assert "record 0: /payload/after/ROW: expected Base64 text" in ended.stdout
    assert ended.exit_code == 1
    for arguments in (("--key-column", "id"), ("-f", "lindorm-json", "--key-column", "id")):
        ended = cli("validate", *arguments, data=data)
        assert (ended.exit_code, ended.stdout) == (0, "")
    encoded = cli("encode", "-f", "lindorm-json", "--declared", data=data)
    assert (encoded.exit_code, encoded.stdout) == (1, "")
    encoded = cli("encode", "-f", "lindorm-json", "--declared", "--key-column", "id", data=data)
    assert (encoded.exit_code, json.loads(encoded.stdout)) == (0, json.loads(data))
    refused = cli("validate", "-f", FORMAT, "--key-column", "id", data=data)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"--key-column does not apply to {FORMAT}" in refused.stderr.replace("\n", " ")
