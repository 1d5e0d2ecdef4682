"""Commands that look at messages take the format of each message unless one is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.changes import dataworks
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT, examples

import changewire as cw

Cli = Callable[..., Ended]
WRITE = json.dumps(examples("write")[0]).encode()
INSERT: bytes = cw.encode(dataworks.message("INSERT", after={"id": 7, "name": "x"}))
STRANGER = INSERT.replace(b'"version"', b'"versoin"')
COMMANDS = (
    "decode --as changes",
    "decode",
    "explain",
    "schema infer",
    "schema observed",
    "validate",
)


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    """A file of messages of two formats, of none, and one that is cut off."""
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join([WRITE, INSERT, STRANGER, WRITE[:-9]]))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_no_format_is_the_format_auto(cli: Cli, topic: Path, command: str) -> None:
    """A command without --format does what it does with --format auto."""
    shown = cli(*command.split(), topic)
    named = cli(*command.split(), topic, "--format", "auto")
    assert (shown.exit_code, shown.stdout) == (named.exit_code, named.stdout)
    assert shown.exit_code < 2 or command == "schema infer"  # which wants one table


def test_messages_of_several_formats_are_decoded(cli: Cli, topic: Path) -> None:
    """Each message is a line as its own format has it, what no format claims is refused."""
    ended = cli("decode", topic)
    by_name = [
        cli("decode", "-f", name, data=data).stdout
        for name, data in ((FORMAT, WRITE), ("dataworks-json", INSERT))
    ]
    messages = [json.loads(line)["message"] for line in by_name]
    assert [line["message"] for line in json_lines(ended.stdout)] == messages
    assert "record 2: unknown-variant: expected a message of" in ended.stderr
    assert "nearest: dataworks-json, 1 issue: /version missing" in ended.stderr
    assert "record 3: truncated: expected the rest of the message" in ended.stderr
    assert ended.stderr.endswith("4 elements, 2 rejected\n")


def test_messages_of_several_formats_are_validated(cli: Cli, topic: Path) -> None:
    """What no format claims has that issue, and those of the nearest format."""
    issues = json_lines(cli("validate", "--json", topic).stdout)
    assert [(issue["number"], issue["pointer"], issue["code"]) for issue in issues] == [
        (2, "", "unknown-variant"),
        (2, "/version", "missing-property"),
        (3, "", "truncated"),
    ]


def test_schemas_of_a_mixed_topic_are_listed(cli: Cli, topic: Path) -> None:
    """Messages of formats without schemas are counted as such."""
    ended = cli("schema", "observed", topic)
    assert ended.stdout.startswith("shop.users  ")
    assert ended.stderr.endswith("4 messages, 1 schema of 1 table, 1 without schema, 2 rejected\n")
    batch = b"[%b, {}]" % WRITE
    alone = cli("schema", "observed", data=batch)
    assert alone.stderr.endswith(
        "2 messages, 0 schemas of 0 tables, 1 without schema, 1 rejected\n"
    )
