"""``changewire encode``: lines of JSON to messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.cli.conftest import Ended
from tests.runtime.codec.formats import JSON_FORMATS as FORMATS
from tests.samples import FORMAT, examples

import changewire as cw

Cli = Callable[..., Ended]


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_decoded_is_encoded(cli: Cli, tmp_path: Path, name: str) -> None:
    """Lines of `decode` become the bytes that the codec writes for their messages."""
    messages = FORMATS[name].schema("message")["examples"]
    (tmp_path / "in").write_text("\n".join(map(json.dumps, messages)), encoding="utf-8")
    decoded = cli("decode", "-f", name, tmp_path / "in").stdout
    ended = cli("encode", "-f", name, data=decoded.encode())
    models = [cw.decode(json.dumps(message), format=name) for message in messages]
    assert ended.stdout.encode().splitlines() == [cw.encode(model) for model in models]
    assert ended.exit_code == 0


def test_messages_alone_are_read(cli: Cli, good: Path) -> None:
    """A line may be a message without anything around it."""
    ended = cli("encode", "-f", FORMAT, good)
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [
        *examples("write"),
        *examples("delete"),
    ]


def test_every_issue_of_a_refused_line_is_named(cli: Cli, good: Path) -> None:
    """Each issue is one line with the number of the record, and without values."""
    bad = {"model": "Write", "message": {**examples("write")[0], "gen": "secret", "lut": "secret"}}
    text = good.read_text(encoding="utf-8")
    good.write_text(f"{json.dumps(bad)}\n{text}\n[\n", encoding="utf-8")
    ended = cli("encode", "-f", FORMAT, good)
    gen, lut, cut, last = ended.stderr.splitlines()
    assert gen.startswith(f"{good}, record 0: at /gen: expected integer or null, found string")
    assert lut.startswith(f"{good}, record 0: at /lut: ")
    assert "expected the rest of the message (truncated) at byte 1" in cut
    assert last.endswith("messages, 2 rejected")
    assert "secret" not in ended.stderr
    assert ended.exit_code == 1
    assert len(ended.stdout.splitlines()) == len(text.splitlines())


def test_a_line_without_message_is_counted(cli: Cli, kcat: Path) -> None:
    """What `decode` writes of a tombstone has no bytes; it is left out, and that is said."""
    decoded = cli("decode", "-f", FORMAT, kcat).stdout
    ended = cli("encode", "-f", FORMAT, data=decoded.encode())
    assert ended.stderr == "1 message, 0 rejected, 1 without a value left out\n"
    assert (ended.exit_code, len(ended.stdout.splitlines())) == (0, 1)


def test_bytes_are_exact_where_they_are_piped(cli: Cli) -> None:
    """Characters that act on a terminal are as the codec writes them: no byte is changed."""
    message = {**examples("delete")[0], "newer": "\x9b\u202e\x7f"}
    ended = cli("encode", "-f", FORMAT, data=json.dumps(message).encode())
    data = cw.encode(cw.decode(json.dumps(message), format=FORMAT))
    assert ended.stdout.encode() == data + b"\n"


def test_nothing_acts_on_a_terminal(good: Path, on_terminal: Callable[..., str]) -> None:
    """On a terminal such characters are escaped, which means the same in JSON."""
    message = {**examples("delete")[0], "newer": "\x9b\u202e"}
    good.write_text(json.dumps(message), encoding="utf-8")
    shown = on_terminal("encode", "-f", FORMAT, good)
    assert r'"newer":"\u009b\u202e"' in shown


def test_a_format_without_text_is_refused(cli: Cli) -> None:
    """Only formats whose messages are JSON text can be named."""
    ended = cli("encode", "-f", "xml")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "'xml' is not one of: aerospike-flat-json" in " ".join(ended.stderr.split())
