"""``changewire schema observed``: which schemas stand in the messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.changes import dataworks
from tests.runtime.cli.conftest import Ended, json_lines

import changewire as cw

Cli = Callable[..., Ended]


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    """A file of four messages with two schemas, one of them refused."""
    types = [{"id": "LONG"}, {"id": "LONG"}, {"id": "STRING", "na\u202eme": "STRING"}]
    messages = [cw.encode(dataworks.message("INSERT", t, after={})) for t in types]
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join([*messages, b"{"]))
    return path


def test_schemas_are_listed_with_what_changed(cli: Cli, topic: Path) -> None:
    """A schema has its table, fingerprint, count, place, and the columns that changed."""
    ended = cli("schema", "observed", "-f", "dataworks-json", topic)
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("shop.users  ")
    assert lines[0].endswith("  2 messages, 1 column")
    assert lines[1] == f"  {topic}, record 0 to {topic}, record 1"
    assert lines[3:] == [
        f"  {topic}, record 2",
        "  ~ /id LONG -> STRING",
        "  + /na\\u202eme STRING",
    ]
    assert ended.exit_code == 1
    assert "record 3: truncated" in ended.stderr
    assert "4 messages, 2 schemas of 1 table, 0 without schema, 1 rejected" in ended.stderr


def test_schemas_with_the_same_columns_say_where_they_differ(cli: Cli, tmp_path: Path) -> None:
    """A schema that changes no column has a line with the places of what it changes."""
    good = cw.encode(dataworks.message("INSERT", after={}))
    other = cw.encode(dataworks.message("INSERT", after={}, primary_key=("id", "name")))
    spaced = good.replace(b'"primaryKey":', b'"primaryKey": ')
    (tmp_path / "topic.jsonl").write_bytes(b"\n".join([good, other, good, spaced]))
    lines = cli("schema", "observed", tmp_path / "topic.jsonl").stdout.splitlines()
    assert [line for line in lines if "=" in line] == [
        "  = same columns as the schema before it, other values at /primaryKey",
        "  = same columns as the schema before it, other values at /primaryKey",
    ]
    as_json = json_lines(cli("schema", "observed", "--json", tmp_path / "topic.jsonl").stdout)
    assert [use["places"] for use in as_json] == [None, ["/primaryKey"], ["/primaryKey"]]
    (tmp_path / "topic.jsonl").write_bytes(b"\n".join([good, spaced]))
    assert cli("schema", "observed", tmp_path / "topic.jsonl").stdout.splitlines()[-1] == (
        "  = same columns as the schema before it, other order of properties or spacing"
    )


def test_schemas_as_json(cli: Cli, topic: Path) -> None:
    """With --json a line is a schema, with all that is known of it."""
    first, second = json_lines(
        cli("schema", "observed", "-f", "dataworks-json", "--json", topic).stdout
    )
    assert (first["count"], first["first"]["number"], first["last"]["number"]) == (2, 0, 1)
    assert first["columns"] == {"/id": "LONG"}
    assert second["differences"][0] == {
        "path": "/id",
        "kind": "type-changed",
        "old": "LONG",
        "new": "STRING",
    }
    assert '"dataColumn"' in second["schema"]


def test_a_format_without_schemas_is_wrong_usage(cli: Cli, good: Path) -> None:
    """If messages carry no schema, there is nothing to list, which is said."""
    ended = cli("schema", "observed", "-f", "aerospike-json", good)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "carry no schema" in ended.stderr
