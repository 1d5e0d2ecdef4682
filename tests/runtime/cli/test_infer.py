"""``changewire schema infer``: captured messages to a draft."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.runtime.cli.conftest import Ended

Cli = Callable[..., Ended]

USERS = Path(__file__).parents[3] / "examples" / "aerospike_json" / "document.jsonl"


def test_a_draft_is_written(cli: Cli, tmp_path: Path) -> None:
    """It goes to standard output, or to a file that was not there; totals go to standard error."""
    words = ("schema", "infer", "-f", "aerospike-json", USERS, "--table", "set", "--title", "Thing")
    shown = cli(*words)
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["title"] == "Thing"
    assert shown.stderr == "ns.set: 2 rows, 5 columns, 0 rejected\n"
    out = tmp_path / "thing.json"
    assert cli(*words, "--out", out).stdout == ""
    assert out.read_text("utf-8") == shown.stdout
    again = cli(*words, "--out", out)
    assert (again.exit_code, again.stderr) == (2, f"{out}: File exists\n")


def test_a_table_must_be_named(cli: Cli) -> None:
    """Messages of several tables are no draft; the tables are listed."""
    ended = cli("schema", "infer", "-f", "aerospike-json", USERS)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("name one table; there are rows of: 'ns.set' (2)")


def test_refused_messages_are_named_and_bounds_shown_on_request(cli: Cli) -> None:
    """The exit code shows that messages were refused; no value is shown unless asked for."""
    words = ("schema", "infer", "-f", "auto", USERS.with_name("users.jsonl"))
    ended = cli(*words)
    assert ended.exit_code == 1
    assert "record 95: wrong-type at /gen" in ended.stderr
    assert ended.stderr.endswith("shop.users: 630 rows, 8 columns, 12 rejected\n")
    assert "Integers from " not in ended.stdout
    age = json.loads(cli(*words, "--show-values").stdout)["properties"]["age"]
    assert age["$comment"].startswith("In 628 of 630 rows. Integers from ")
