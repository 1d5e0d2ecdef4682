"""The command line on MessagePack: told from its bytes, written as JSON to read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from tests.runtime.cli.conftest import json_lines
from tests.runtime.codec.packed import DELETE, holding, pack, write

from changewire.cli.commands.decode import decode
from changewire.codec import registry
from changewire_messages import FORMATS

FORMAT = "standin-msgpack"


@pytest.fixture
def topic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of messages back to back, of a format written by hand."""
    monkeypatch.setattr(registry, "FORMATS", {**FORMATS, FORMAT: "tests.standin"})
    path = tmp_path / "topic.bin"
    messages = [pack(write({1: b"x"})), pack([DELETE, DELETE]), holding(b"\x82\x01\x01\xc3\x01")]
    path.write_bytes(b"".join(messages))
    return path


def ended(command: Callable[..., None], *arguments: object, **options: object) -> int:
    """Return the exit code of a command."""
    with pytest.raises(typer.Exit) as end:
        command(*arguments, **options)
    return end.value.exit_code


def test_decode_writes_json(topic: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Each element is a line of JSON, whatever MessagePack holds; a refused one is named."""
    assert ended(decode, [str(topic)], format=FORMAT) == 1
    out, err = capfdbinary.readouterr()
    lines = json_lines(out.decode())
    found = [(line["number"], line["element"], line["model"]) for line in lines]
    assert found == [(0, 0, "Write"), (1, 0, "Delete"), (1, 1, "Delete")]
    assert lines[0]["message"][2][2] == [["b", [[1, "eA=="]]]]
    assert b"record 2: duplicate-key at /2/2/0/1/True" in err.replace(b"\n", b" ")
