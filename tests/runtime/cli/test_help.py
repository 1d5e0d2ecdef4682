"""What every command has in common: its help, with an example that works, and ``--json``."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.cli.conftest import Ended
from tests.runtime.convert.messages import packed, to_msgpack
from tests.samples import FORMAT, examples
from tests.support.commands import calls, commands, parse

import changewire as cw

Cli = Callable[..., Ended]
COMMANDS = commands()
WIDTH = 80
NOT_RUN = {
    "doctor": "asks a broker, with the tests of a real one",
    "schema generate": "takes schemas of somebody's own, in tests of its own",
    "adopt": "changes a table, in tests of its own",
    "apply": "reads a log, in tests of its own",
    "trace": "reads a log, in tests of its own",
    "verify": "reads a log in Spark, in tests of its own",
    "rebuild": "reads a log in Spark, in tests of its own",
    "history": "reads a log, in tests of its own",
    "current": "reads a log, in tests of its own",
    "dead-letters": "reads a log, in tests of its own",
    "schema infer": "needs rows of one table, in tests of its own",
    "run": "writes a report with charts, in tests of its own",
    "stream": "reads topics in Spark, in tests of its own",
    "schema show": "shows Spark types, in tests of its own",
    "replay": "reads the outputs of a stream, in Spark",
    "schema diff": "compares schemas for seconds, in tests of its own",
}


def example_of(cli: Cli, name: str) -> list[str]:
    """Return the lines of the example in a command's help."""
    text = cli(*name.split(), "--help").stdout
    paragraph = text.partition("\n  Example:\n")[2].partition("\n\n")[0]
    return paragraph.splitlines()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that examples name, in which they are run."""
    texts = [json.dumps(message).encode() for message in examples("write")]
    users = b"\n".join(texts) + b"\n"
    (tmp_path / "users.jsonl").write_bytes(users)
    (tmp_path / "users.jsonl.gz").write_bytes(gzip.compress(users))
    (tmp_path / "topic.bin").write_bytes(b"".join(map(to_msgpack, texts[:1])))
    (tmp_path / "topic.jsonl").write_bytes(_heartbeat() * 18)
    coder = cw.codec("aerospike-msgpack")
    lines = coder.to_json(coder.decode(to_msgpack(texts[0])))
    (tmp_path / "lines.jsonl").write_bytes(lines)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _heartbeat() -> bytes:
    corpus = Path(__file__).parents[2] / "corpus" / "dataworks_json" / "valid"
    return (
        json.dumps(json.loads((corpus / "message-heartbeat-document.json").read_bytes())).encode()
        + b"\n"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_is_right_usage(cli: Cli, name: str) -> None:
    """The example stands as a line of its own, fits a terminal, and calls this command."""
    lines = example_of(cli, name)
    assert lines
    assert max(map(len, lines)) <= WIDTH
    found = calls(" ".join(line.strip().removesuffix("\\") for line in lines))
    assert name.split() in [words[: len(name.split())] for words in found]
    for words in found:
        parse(words)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NOT_RUN])
@pytest.mark.usefixtures("files")
def test_examples_work(cli: Cli, name: str) -> None:
    """What the help of a command shows does what it says, and ends with 0."""
    (line,) = example_of(cli, name)
    for words in calls(line):
        ended = cli(*words)
        assert ended.exit_code == 0, ended.stderr


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"sample", "schema show"}))
def test_every_command_writes_json_for_programs(name: str) -> None:
    """The option has the same name and the same words everywhere."""
    (option,) = [option for option in COMMANDS[name].params if "--json" in option.opts]
    assert option.help == "Write JSON lines instead of text, for programs."


def test_every_option_and_argument_is_explained() -> None:
    """Help says what each parameter is."""
    for name, command in COMMANDS.items():
        assert [option.name for option in command.params if not option.help] == [], name


@pytest.mark.parametrize(
    "words",
    [
        ("decode", "-f", FORMAT),
        ("encode", "-f", FORMAT),
        ("validate", "-f", FORMAT),
        ("decode", "--as", "changes", "-f", FORMAT),
        ("convert", "--from", "aerospike-msgpack", "--to", FORMAT),
        ("schema", "observed", "-f", "lindorm-json"),
    ],
    ids=" ".join,
)
def test_notices_are_json_too(cli: Cli, mixed: Path, words: tuple[str, ...]) -> None:
    """With --json standard error has a line of JSON for each refusal, and one with totals."""
    ended = cli(*words, "--json", mixed)
    notices = [json.loads(line) for line in ended.stderr.splitlines()]
    *refused, totals = notices
    assert totals["notice"] == "totals"
    assert totals["rejected"] > 0
    assert all(item["notice"] == "rejected" and "number" in item for item in refused)
    assert all(item["reasons"] and item["code"] for item in refused)
    assert ended.exit_code == 1


def test_losses_are_json_too(program: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    """A loss that a conversion allows is a line with its place and its issue."""
    words = ("--from", "aerospike-msgpack", "--to", FORMAT, "--lossy", "--json")
    ended = program("convert", *words, data=packed(["b", 7, 1, b"secret"]))
    *losses, totals = map(json.loads, ended.stderr.splitlines())
    assert {(loss["notice"], loss["number"], loss["code"]) for loss in losses} == {
        ("loss", 0, "lossy")
    }
    assert totals["losses"] == len(losses)
    assert b"secret" not in ended.stderr


def test_errors_are_json_too(cli: Cli, tmp_path: Path) -> None:
    """A file that cannot be read is a line with the reason."""
    ended = cli("decode", "-f", FORMAT, "--json", tmp_path / "missing")
    error = json.loads(ended.stderr)
    assert error["notice"] == "error"
    assert "missing" in error["message"]
    assert ended.exit_code == 2


def test_refusals_as_json_hold_no_value(cli: Cli, tmp_path: Path) -> None:
    """Neither what a message holds nor the start of it stands in a line about its refusal."""
    message = {**examples("write")[0], "gen": "canary-one", "exp": ["canary-two"]}
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(message))
    for words in (["decode"], ["encode"], ["decode", "--as", "changes"]):
        ended = cli(*words, "-f", FORMAT, "--json", path)
        assert '"rejected"' in ended.stderr
        assert "canary" not in ended.stderr
