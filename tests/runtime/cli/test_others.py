"""The commands that look at formats and at the installation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT

import changewire as cw

Cli = Callable[..., Ended]


def test_explain_counts_formats(cli: Cli, kcat: Path) -> None:
    """Messages are counted by format, with those of none and those without value."""
    ended = cli("explain", "--count", kcat)
    counts = {
        name: int(count)
        for count, name in (line.split(None, 1) for line in ended.stdout.splitlines())
    }
    assert counts == {FORMAT: 1, "(no value)": 1, "(unknown)": 1}
    assert ended.exit_code == 1
    found = json.loads(cli("explain", "--count", "--json", kcat).stdout)
    assert found == {"formats": {FORMAT: 1}, "unknown": 1, "no_value": 1}


def test_explain_gives_zero_for_known_formats(cli: Cli, good: Path) -> None:
    """The exit code is 0 where every message has a known format."""
    assert cli("explain", "--count", good).exit_code == 0


def test_formats_are_listed(cli: Cli) -> None:
    """Every format is there, with its kinds of messages and what they are."""
    found = json_lines(cli("schema", "list", "--json").stdout)
    assert [item["format"] for item in found] == cw.formats()
    variants = {v["name"]: v["description"] for v in found[cw.formats().index(FORMAT)]["variants"]}
    assert variants["Delete"].endswith(".")
    table = cli("schema", "list").stdout
    assert all(name in table for name in (*cw.formats(), *variants))
