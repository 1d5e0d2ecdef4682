"""The commands that look at formats and at the installation."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT

import changewire as cw
from changewire import job

Cli = Callable[..., Ended]


def test_detect_counts_formats(cli: Cli, kcat: Path) -> None:
    """Messages are counted by format, with those of none and those without value."""
    ended = cli("detect", kcat)
    counts = {
        name: int(count)
        for count, name in (line.split(None, 1) for line in ended.stdout.splitlines())
    }
    assert counts == {FORMAT: 1, "(no value)": 1, "(unknown)": 1}
    assert ended.exit_code == 1
    found = json.loads(cli("detect", "--json", kcat).stdout)
    assert found == {"formats": {FORMAT: 1}, "unknown": 1, "no_value": 1}


def test_detect_tells_each_message(cli: Cli, kcat: Path) -> None:
    """With --each a line says which format a message has."""
    found = json_lines(cli("detect", "--each", kcat).stdout)
    assert [(line["number"], line["format"]) for line in found] == [
        (0, FORMAT),
        (1, None),
        (2, None),
    ]


def test_detect_gives_zero_for_known_formats(cli: Cli, good: Path) -> None:
    """The exit code is 0 where every message has a known format."""
    assert cli("detect", good).exit_code == 0


def test_formats_are_listed(cli: Cli) -> None:
    """Every format is there, with its kinds of messages and what they are."""
    found = json_lines(cli("formats", "--json").stdout)
    assert [item["format"] for item in found] == cw.formats()
    variants = {v["name"]: v["description"] for v in found[cw.formats().index(FORMAT)]["variants"]}
    assert variants["Delete"].endswith(".")
    table = cli("formats").stdout
    assert all(name in table for name in (*cw.formats(), *variants))


def test_doctor_reports_each_part(cli: Cli) -> None:
    """Every part has a finding, and an advice exactly where it does not fit."""
    found = {item["name"]: item for item in json_lines(cli("doctor", "--json").stdout)}
    assert {"Python", "Java", "pyspark", "pyarrow", "pandas", "confluent-kafka"} <= found.keys()
    assert all(item["ok"] == (not item["advice"]) for item in found.values())
    assert found["pyarrow"]["ok"]


def test_doctor_misses_java(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where Spark cannot run the exit code is 1, and the advice says what to install."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    ended = cli("doctor")
    assert ended.exit_code == 1
    assert "install Java 17 or newer" in " ".join(ended.stdout.split())


@pytest.mark.parametrize(
    ("versions", "code", "advice"),
    [
        ({"pandas": "3.0.1"}, 1, 'pip install "changewire[spark]"'),
        ({"deltalake": "0.20.0"}, 0, 'pip install "changewire[delta]"'),
    ],
)
def test_doctor_refuses_unfit_versions(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    versions: dict[str, str],
    code: int,
    advice: str,
) -> None:
    """A version that does not fit has an advice; only what Spark needs decides the exit code."""
    fitting = {"pyspark": "4.0.1", "pandas": "2.3.3", "pyarrow": "19.0"}
    module = import_module("changewire.cli.commands.doctor")
    found = {**fitting, **versions}

    def version(name: str) -> str:
        return found.get(name, "9.0")

    monkeypatch.setattr(module, "version", version)
    monkeypatch.setattr(job, "java_version", lambda: 21)
    ended = cli("doctor", "--json")
    (unfit,) = [item for item in json_lines(ended.stdout) if not item["ok"]]
    assert (unfit["found"], unfit["advice"]) == (*versions.values(), advice)
    assert ended.exit_code == code
