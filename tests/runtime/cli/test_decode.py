"""``changewire decode``: messages to lines of JSON."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT, examples

import changewire as cw
from changewire.cli import records

Cli = Callable[..., Ended]


def test_each_element_is_a_line(cli: Cli, mixed: Path) -> None:
    """Standard output has one line for each good element, with its place and its model."""
    found = json_lines(cli("decode", "--format", FORMAT, mixed).stdout)
    batch = [line for line in found if line["number"] == 7]
    assert [(line["element"], line["model"]) for line in batch] == [(0, "Write"), (2, "Delete")]
    assert {line["path"] for line in found} == {str(mixed)}


def test_a_message_comes_back_as_the_codec_writes_it(cli: Cli, good: Path) -> None:
    """What stands under `message` is the message, unknown properties included."""
    messages = [*examples("write"), {**examples("delete")[0], "newer": {"a": [1]}}]
    good.write_text("\n".join(map(json.dumps, messages)), encoding="utf-8")
    found = [line["message"] for line in json_lines(cli("decode", "-f", FORMAT, good).stdout)]
    models = [cw.decode(json.dumps(message), format=FORMAT) for message in messages]
    assert found == [json.loads(cw.encode(model)) for model in models]
    assert found[-1]["newer"] == {"a": [1]}


def test_refused_elements_are_named_on_stderr(cli: Cli, mixed: Path) -> None:
    """Each refused element is one line with place, code, pointer and reason; the exit code is 1."""
    ended = cli("decode", "-f", FORMAT, mixed)
    lines = ended.stderr.splitlines()
    assert ended.exit_code == 1
    assert lines[0].startswith(f"{mixed}, record 7, element 1: missing-property at /key: expected")
    assert lines[1].startswith(f"{mixed}, record 9: truncated")
    assert lines[-1].endswith("rejected")


def test_values_stay_out_of_the_talk(cli: Cli, tmp_path: Path) -> None:
    """Why a message was refused is said without what it holds."""
    message = {**examples("write")[0], "gen": "secret"}
    (tmp_path / "in").write_text(json.dumps(message), encoding="utf-8")
    ended = cli("decode", "-f", FORMAT, tmp_path / "in")
    assert "wrong-type at /gen" in ended.stderr
    assert "secret" not in ended.stderr


def test_good_messages_give_zero(cli: Cli, good: Path) -> None:
    """The exit code is 0 where every message was valid."""
    assert cli("decode", "-f", FORMAT, good).exit_code == 0


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input_is_read(cli: Cli, good: Path, arguments: tuple[str, ...]) -> None:
    """A dash is standard input, and so is no input at all where something is piped in."""
    ended = cli("decode", "-f", FORMAT, *arguments, data=good.read_bytes())
    assert ended.exit_code == 0
    assert {line["path"] for line in json_lines(ended.stdout)} == {"-"}


def test_a_terminal_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who names no file at a terminal is told so, and nothing waits for typing."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(typer.BadParameter, match="name a file"):
        records.given(None)


def test_compressed_files_and_folders_are_read(cli: Cli, good: Path, tmp_path: Path) -> None:
    """A folder stands for the files below it, and gzip is inflated."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.gz").write_bytes(gzip.compress(good.read_bytes()))
    (folder / "b").write_bytes(good.read_bytes())
    plain = json_lines(cli("decode", "-f", FORMAT, good).stdout)
    found = json_lines(cli("decode", "-f", FORMAT, folder).stdout)
    assert [line["message"] for line in found] == [line["message"] for line in plain] * 2


def test_kafka_places_are_kept(cli: Cli, kcat: Path) -> None:
    """Topic, partition and offset stand beside path and number; a tombstone has no message."""
    ended = cli("decode", "-f", FORMAT, kcat)
    good, empty = json_lines(ended.stdout)
    assert (good["topic"], good["partition"], good["offset"], good["model"]) == (
        "t",
        1,
        0,
        "Delete",
    )
    assert (empty["offset"], empty["model"], empty["message"]) == (1, None, None)
    assert "record 2, t/1/2: truncated" in ended.stderr


def test_a_shape_can_be_named(cli: Cli, tmp_path: Path) -> None:
    """With a named shape an array is messages, and not a batch."""
    (tmp_path / "in").write_text(json.dumps(examples("delete") * 2), encoding="utf-8")
    as_batch = json_lines(cli("decode", "-f", FORMAT, tmp_path / "in").stdout)
    as_array = json_lines(
        cli("decode", "-f", FORMAT, "--shape", "json-array", tmp_path / "in").stdout
    )
    assert {line["number"] for line in as_batch} == {0}
    assert [line["number"] for line in as_array] == list(range(len(as_batch)))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("decode", "-f", FORMAT, "missing"), "missing: there is no such file"),
        (("decode", "-f", "xml"), "'xml' is not one of: auto, aerospike-flat-json"),
        (("decode", "-f", FORMAT, "--shape", "xml"), "'xml' is not one of: auto, json-lines"),
        (("encode",), "--format"),
        (
            ("decode", "--as", "changes", "-f", FORMAT, "--row-image", "half"),
            "'half' is not one of: full",
        ),
        (("nothing",), "nothing"),
    ],
)
def test_what_cannot_be_done_gives_two(cli: Cli, arguments: tuple[str, ...], sentence: str) -> None:
    """Wrong usage and missing files are said on standard error; the exit code is 2."""
    ended = cli(*arguments)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert sentence in " ".join(ended.stderr.split())


def test_damage_is_one_sentence(cli: Cli, good: Path) -> None:
    """What was read before the damage is written, the damage is said, the exit code is 2."""
    good.write_bytes(gzip.compress(good.read_bytes() * 2000)[:-20])
    ended = cli("decode", "-f", FORMAT, good)
    assert ended.exit_code == 2
    assert ended.stdout.startswith('{"path"')
    assert "cut off or damaged" in ended.stderr.splitlines()[-1]


HOSTILE = "a\x1b]0;x\x07\x9b31m\u202e[red]b[/red]\u2028:smile:\x7f"


def test_terminal_sequences_are_escaped(cli: Cli, tmp_path: Path) -> None:
    """A name that acts on a terminal is harmless in the data, and still the same name."""
    message = {
        **examples("delete")[0],
        "key": ["ns", HOSTILE, "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", None],
    }
    path = tmp_path / "in"
    path.write_text(json.dumps(message, ensure_ascii=False), encoding="utf-8")
    ended = cli("decode", "-f", FORMAT, path)
    assert json_lines(ended.stdout)[0]["message"]["key"][1] == HOSTILE
    assert ended.stdout.replace("\n", "").isprintable()


def test_talk_is_escaped(cli: Cli, tmp_path: Path) -> None:
    """Names in the talk act on no terminal, and are not taken for markup."""
    path = tmp_path / "a\x1b[31m\n[red]b[bold]:smile:"
    path.write_text("{", encoding="utf-8")
    line = cli("decode", "-f", FORMAT, path).stderr.splitlines()[0]
    assert r"a\x1b[31m\n[red]b[bold]:smile:, record 0: truncated" in line
    assert line.isprintable()


@pytest.mark.skipif(os.name == "nt", reason="names of files are text there")
def test_a_name_that_is_no_text_is_shown(cli: Cli, good: Path) -> None:
    """The bytes of a file name that is not UTF-8 are escaped."""
    path = good.rename(os.fsdecode(os.fsencode(good) + b"\xff"))
    found = json_lines(cli("decode", "-f", FORMAT, path).stdout)
    assert found[0]["path"].endswith(r"\udcff")
