"""The command line on MessagePack: told from its bytes, written as JSON, and back to bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from tests.runtime.cli.conftest import Ended, json_lines
from tests.runtime.codec.formats import FORMATS, role_of, wire_of
from tests.runtime.codec.packed import BIN, CODEC, DELETE, holding, pack, write

import changewire as cw
from changewire.cli.commands.encode import encode
from changewire.framing import read

Cli = Callable[..., Ended]

FORMAT = "aerospike-msgpack"


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    """Return a file of messages back to back: good, a batch, and one with a key twice."""
    path = tmp_path / "topic.bin"
    messages = [pack(write({1: b"x"})), pack([DELETE, DELETE]), holding(b"\x82\x01\x01\xc3\x01")]
    path.write_bytes(b"".join(messages))
    return path


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Return a file of the golden messages and batches."""
    path = tmp_path / "golden.bin"
    files = [file for file in FORMATS[FORMAT].golden("valid") if "key" not in role_of(file)]
    empty = [file for file in files if "empty" in file.name]
    path.write_bytes(b"".join(wire_of(file) for file in files if file not in empty))
    return path


def test_decode_writes_json(cli: Cli, topic: Path) -> None:
    """Each element is a line of JSON, whatever MessagePack holds; a refused one is named."""
    ended = cli("decode", "-f", FORMAT, topic)
    lines = json_lines(ended.stdout)
    found = [(line["number"], line["element"], line["model"]) for line in lines]
    assert found == [(0, 0, "Write"), (1, 0, "LegacyDelete"), (1, 1, "LegacyDelete")]
    assert lines[0]["message"][2][4][0][3] == {"map": [[1, {"bytes": "eA=="}]]}
    assert f"record 2: duplicate-key at {BIN}/True" in ended.stderr
    assert ended.exit_code == 1


@pytest.mark.parametrize("shape", ["msgpack-concatenated", "msgpack-length-prefixed"])
def test_what_was_decoded_is_encoded(program: Any, golden: Path, shape: str) -> None:
    """Lines of `decode` become the very messages, in a shape that is told and read back."""
    decoded = program("decode", "-f", FORMAT, golden).stdout
    encoded = program("encode", "-f", FORMAT, "--to-shape", shape, data=decoded)
    assert encoded.returncode == 0
    again = program("decode", "-f", FORMAT, data=encoded.stdout).stdout
    messages = [line["message"] for line in json_lines(decoded.decode())]
    assert [line["message"] for line in json_lines(again.decode())] == messages
    if shape == "msgpack-concatenated":
        models = [model for data in _messages(golden) for model in CODEC.decode_all(data)]
        assert encoded.stdout == b"".join(map(cw.encode, models))


def _messages(path: Path) -> list[bytes]:
    return [record.value or b"" for record in read(str(path))]


def test_messages_alone_are_encoded(cli: Cli) -> None:
    """A line may be a message without anything around it."""
    model = CODEC.decode(pack(DELETE))
    ended = cli("encode", "-f", FORMAT, data=CODEC.to_json(model) + b"\n")
    assert (ended.exit_code, ended.stderr) == (0, "1 message, 0 rejected\n")


def test_bytes_stay_off_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """MessagePack is not written to a terminal, where it would act."""
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(typer.BadParameter, match="file or a pipe"):
        encode(["-"], format=FORMAT)


def test_every_issue_of_a_refused_line_is_named(cli: Cli) -> None:
    """What is wrong in the JSON, or in the message that it stands for, has its place."""
    key = '["ns", null, "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", %s]'
    lines = [f"[1, 2, [{key % value}, 1]]" for value in ('{"bytes": 1}', "true", '{"float": "x"}')]
    ended = cli("encode", "-f", FORMAT, data="\n".join(lines).encode())
    first, second, third, last = ended.stderr.splitlines()
    assert "record 0: at /2/0/3/bytes: expected Base64 text, found integer" in first
    assert "record 1: at /2/0/3: " in second
    assert "record 2: at /2/0/3/float: expected one of NaN, Infinity, -Infinity" in third
    assert last == "0 messages, 3 rejected"
    assert ended.exit_code == 1


def test_validate_takes_bytes_and_their_json(cli: Cli, golden: Path) -> None:
    """Messages, and the lines that `decode` writes of them, have the same issues: none."""
    assert cli("validate", "-f", FORMAT, golden).exit_code == 0
    decoded = cli("decode", "-f", FORMAT, golden).stdout
    good = cli("validate", "-f", FORMAT, data=decoded.encode())
    assert (good.exit_code, good.stdout) == (0, "")
    bad = cli("validate", "-f", FORMAT, data=decoded.replace('"ns"', "7").encode())
    assert "record 0: /2/0/0: expected string, found integer 7 (wrong-type, type)" in bad.stdout
    assert bad.exit_code == 1
