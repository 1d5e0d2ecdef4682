"""``changewire convert``: messages of one format to another."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from tests.runtime.cli.conftest import Ended, json_lines
from tests.runtime.convert.messages import (
    JSON,
    MSGPACK,
    packed,
    packed_delete,
    text,
    text_delete,
    to_msgpack,
)

from changewire.cli.commands.convert import convert

Cli = Callable[..., Ended]
Program = Callable[..., "subprocess.CompletedProcess[bytes]"]
TO_JSON = ("convert", "--from", MSGPACK, "--to", JSON)
TO_MSGPACK = ("convert", "--from", JSON, "--to", MSGPACK)
LINES = text() + b"\n[" + text() + b"]\n"


def test_json_becomes_messagepack(program: Program) -> None:
    """Messages and batches stand one behind the other, as many bytes as they are."""
    ended = program(*TO_MSGPACK, data=LINES)
    assert ended.returncode == 0
    assert ended.stdout == packed() + b"\x91" + packed()
    assert ended.stderr == b"2 messages, 0 rejected\n"


def test_lengths_stand_before_messages(program: Program) -> None:
    """The other shape has the length of each message before it, and is read again."""
    ended = program(*TO_MSGPACK, "--to-shape", "msgpack-length-prefixed", data=LINES)
    first = to_msgpack(text())
    assert ended.stdout[: 4 + len(first)] == len(first).to_bytes(4, "big") + first
    again = program(*TO_JSON, "--shape", "msgpack-length-prefixed", data=ended.stdout)
    assert [json.loads(line) for line in again.stdout.splitlines()] == [
        json.loads(text()),
        [json.loads(text())],
    ]


def test_losses_refuse_a_message(cli: Cli, tmp_path: Path) -> None:
    """What would lose something is named with every loss, the others are converted."""
    path = tmp_path / "topic.bin"
    path.write_bytes(packed(["b", 7, 1, b"secret"]) + packed_delete(1))
    ended = cli(*TO_JSON, path)
    assert ended.exit_code == 1
    assert [line["msg"] for line in json_lines(ended.stdout)] == ["delete"]
    first, second, last = ended.stderr.splitlines()
    assert first.startswith(f"{path}, record 0: at /2/4/0/1: expected a particle type")
    assert "at /2/4/0/2" in second
    assert last == "1 message, 1 rejected"
    assert "secret" not in ended.stderr


def test_losses_that_are_allowed_are_named(cli: Cli) -> None:
    """With --lossy the message is written, its losses are told, and all is good."""
    ended = cli(*TO_JSON, "--lossy", data=packed(["b", 7, 0, b"x"]))
    assert ended.exit_code == 0
    assert json_lines(ended.stdout)[0]["bins"] == [{"name": "b", "type": "blob", "value": "eA=="}]
    assert "(lossy)" in ended.stderr
    assert ended.stderr.endswith("1 message, 0 rejected, 1 loss\n")


def test_damage_and_no_value(cli: Cli) -> None:
    """A refused message is named and makes the exit code 1; a record without value is left out."""
    ended = cli(*TO_JSON, "--shape", "msgpack-length-prefixed", data=b"\xff" * 4 + b"\0\0\0\1\xc1")
    assert ended.exit_code == 1
    assert "invalid-msgpack" in ended.stderr
    assert "0 messages, 1 rejected, 1 without a value left out" in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--from", JSON, "--to", JSON),
        ("--from", "lindorm-json", "--to", JSON),
        ("--from", JSON, "--to", MSGPACK, "--to-shape", "json-lines"),
        ("--from", JSON),
    ],
)
def test_wrong_usage(cli: Cli, arguments: tuple[str, ...]) -> None:
    """A conversion that does not exist, and a shape that is none of MessagePack, is wrong usage."""
    ended = cli("convert", *arguments, data=text_delete())
    assert ended.exit_code == 2
    assert ended.stdout == ""


def test_bytes_stay_off_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """MessagePack is not written to a terminal, where it would act."""
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(typer.BadParameter, match="file or a pipe"):
        convert(["-"], source=JSON, target=MSGPACK)
