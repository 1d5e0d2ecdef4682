"""Files of messages, and commands to run on them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.samples import examples, mixed_messages
from tests.support.terminal import changewire, ended
from typer.testing import CliRunner

from changewire.cli.app import app


class Ended(Protocol):
    """A command that has ended."""

    @property
    def exit_code(self) -> int:
        """Its exit code."""
        ...

    @property
    def stdout(self) -> str:
        """What it wrote to standard output."""
        ...

    @property
    def stderr(self) -> str:
        """What it wrote to standard error."""
        ...


SPARK_SELDOM = pytest.mark.parametrize(
    "engine", ["python", pytest.param("spark", marks=pytest.mark.long)], indirect=True
)
"""Marks what both engines do alike, by code that another test runs with Spark."""


@pytest.fixture(params=["python", "spark"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine, Spark with the session of the tests."""
    name: str = request.param
    if name == "spark":
        request.getfixturevalue("spark")
    return name


@pytest.fixture
def cli() -> Callable[..., Ended]:
    """Run a command in this process; what is given as `data` is its standard input."""

    def run(*arguments: str | Path, data: bytes = b"") -> Ended:
        words = [str(argument) for argument in arguments]
        return CliRunner().invoke(app, words, input=data, catch_exceptions=False)

    return run


@pytest.fixture
def program() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a command in a process of its own, as a shell does."""

    def run(*arguments: str | Path, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "changewire.cli", *map(str, arguments)]
        return subprocess.run(command, input=data, capture_output=True, check=False)

    return run


@pytest.fixture
def on_terminal() -> Callable[..., str]:
    """Run a command in a terminal, and return what that shows."""

    def run(*arguments: str | Path) -> str:
        shown, code = ended(changewire(*arguments, columns=160))
        assert code in {0, 1}
        return shown

    return run


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A file of good, empty and refused messages, one to a line."""
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"\n".join(m for m in mixed_messages() if m is not None) + b"\n")
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A file of good messages only."""
    path = tmp_path / "good.jsonl"
    texts = [json.dumps(message) for message in (*examples("write"), *examples("delete"))]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


@pytest.fixture
def kcat(tmp_path: Path) -> Path:
    """What kcat prints of three records: good, without value, and refused."""
    path = tmp_path / "kcat.jsonl"
    payloads = [json.dumps(examples("delete")[0]), None, "{"]
    records = [
        {"topic": "t", "partition": 1, "offset": i, "ts": 5, "key": "k", "payload": payload}
        for i, payload in enumerate(payloads)
    ]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def json_lines(text: str) -> list[dict[str, Any]]:
    """Return the objects on the lines of a text."""
    return [json.loads(line) for line in text.splitlines()]
