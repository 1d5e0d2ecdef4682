"""``changewire explain``: one message, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.cli.conftest import Ended, json_lines
from tests.runtime.codec.formats import JSON_FORMATS as FORMATS
from tests.samples import FORMAT, examples

Cli = Callable[..., Ended]
WRITE: dict[str, Any] = examples("write")[0]
HOSTILE = "a\x1b[2J\x9b\u202e[red]b[/red]\u2028"


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    """A file of a good message, one with issues, one that is cut off, and a stranger."""
    wrong = {**WRITE, "gen": "x", "newer": True}
    lines = [*map(json.dumps, (WRITE, wrong)), '{"msg": "wri', '{"a": 1}']
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_each_field_is_a_line(cli: Cli, topic: Path) -> None:
    """A line has name, value, reading and meaning; the first one format and variant."""
    ended = cli("explain", topic)
    first, *lines = ended.stdout.splitlines()
    assert ended.exit_code == 0
    assert first == f"{topic}, record 0: {FORMAT} (detected), Write"
    assert '  msg: "write"  # Kind of the message: always write.' in lines
    lut = next(line for line in lines if line.startswith("  lut: "))
    assert lut.startswith("  lut: 1617167159548 = 2021-03-31T05:05:59.548Z  # Time of the last")
    assert lines[-1] == "0 issues"


def test_issues_and_unknown_properties_stand_in_place(cli: Cli, topic: Path) -> None:
    """What is wrong stands below the field; the exit code is 1."""
    ended = cli("explain", topic, "--number", "1", "--format", FORMAT)
    lines = ended.stdout.splitlines()
    gen = next(i for i, line in enumerate(lines) if line.startswith('  gen: "x"'))
    assert (
        lines[gen + 1] == "    ! at /gen: expected integer or null, found string 'x' (wrong-type)"
    )
    assert "  newer: true (not in the schema)" in lines
    assert "told from" not in lines[0]
    assert (ended.exit_code, lines[-1]) == (1, "1 issue")


def test_damage_is_shown_with_the_bytes_around_it(cli: Cli, topic: Path) -> None:
    """A message that cannot be parsed is shown around the byte where the parser stopped."""
    ended = cli("explain", topic, "--number", "2")
    *_, what, where, mark = ended.stdout.splitlines()
    assert what == "expected the rest of the message (truncated)"
    assert where == 'byte 12: {"msg": "wri'
    assert mark.index("^") == len(where)
    assert ended.exit_code == 1


def test_a_message_of_no_format_is_shown(cli: Cli, topic: Path) -> None:
    """What no format knows is shown as it is, and the formats are named."""
    ended = cli("explain", topic, "--number", "3")
    assert "record 3: of no known format" in ended.stdout
    assert f", {FORMAT}, " in ended.stdout
    assert "  a: 1" in ended.stdout.splitlines()
    assert ended.exit_code == 1


def test_a_misspelt_property_is_shown_beside_the_nearest_format(cli: Cli) -> None:
    """A message of no format is held against the nearest one, which the error names."""
    message = {{"msg": "mgs"}.get(name, name): value for name, value in WRITE.items()}
    ended = cli("explain", data=json.dumps(message).encode())
    lines = ended.stdout.splitlines()
    assert lines[0].endswith(f": of no known format (nearest: {FORMAT})")
    assert lines[2].endswith(f"; nearest: {FORMAT}, 1 issue: /msg missing (unknown-variant)")
    assert "  ! at /msg: expected one of write, delete, found nothing (missing-property)" in lines
    assert ended.exit_code == 1
    (found,) = json_lines(cli("explain", "--json", data=json.dumps(message).encode()).stdout)
    assert (found["format"], found["nearest"]) == (None, FORMAT)


def test_the_fields_as_json(cli: Cli, topic: Path) -> None:
    """With --json the message is one object with a list of fields, in their order."""
    (found,) = json_lines(cli("explain", topic, "--number", "1", "--json").stdout)
    assert (found["number"], found["format"], found["variant"]) == (1, FORMAT, "Write")
    fields = {field["pointer"]: field for field in found["fields"]}
    assert fields["/lut"]["reading"] == "2021-03-31T05:05:59.548Z"
    assert fields["/newer"]["state"] == "unknown"
    assert fields["/gen"]["value"] == "x"
    assert fields["/gen"]["issues"] == found["issues"]
    assert [issue["code"] for issue in found["issues"]] == ["wrong-type"]
    (cut,) = json_lines(cli("explain", topic, "--number", "2", "--json").stdout)
    assert (cut["byte_offset"], cut["fields"]) == (12, [])


def test_numbers_keep_their_digits(cli: Cli, tmp_path: Path) -> None:
    """A number beyond binary64 is shown as it stands in the message."""
    message = FORMATS["lindorm-json"].good.replace(b"[1]", b"0.12345678901234567890")
    (tmp_path / "in").write_bytes(message)
    assert "a: 0.12345678901234567890" in cli("explain", tmp_path / "in").stdout
    assert '"value":0.12345678901234567890' in cli("explain", "--json", tmp_path / "in").stdout


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--full",)])
def test_hostile_text_is_escaped(cli: Cli, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Names and values act on no terminal, in whatever way they are shown."""
    bins = [{"name": HOSTILE, "type": "blob", "value": "G1tt"}]
    message = {**WRITE, HOSTILE: HOSTILE, "gen": HOSTILE, "bins": bins}
    (tmp_path / "in").write_text(json.dumps(message, ensure_ascii=False), encoding="utf-8")
    ended = cli("explain", tmp_path / "in", *arguments)
    assert ended.stdout.replace("\n", "").isprintable()


def test_long_values_are_cut(cli: Cli, tmp_path: Path) -> None:
    """Of long values the start is shown, and all of them with --full."""
    bins = [{"name": str(i), "type": "str", "value": "x" * 5000} for i in range(30)]
    (tmp_path / "in").write_text(json.dumps({**WRITE, "bins": bins}), encoding="utf-8")
    short = cli("explain", tmp_path / "in").stdout
    assert max(map(len, short.splitlines())) < 500
    assert "bins: array, 10 of its fields not shown" in short
    assert cli("explain", "--full", tmp_path / "in").stdout.count("x" * 5000) == 30


def test_a_tombstone_has_nothing_to_explain(cli: Cli, kcat: Path) -> None:
    """A record without value is good, and said to have none."""
    ended = cli("explain", kcat, "--number", "1")
    assert (ended.exit_code, ended.stdout) == (0, "")
    assert "has no value" in ended.stderr


def test_a_number_beyond_the_last_gives_two(cli: Cli, topic: Path) -> None:
    """The error says which numbers there are; the exit code is 2."""
    ended = cli("explain", topic, "--number", "9")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr == "no message 9: there are 4 messages, 0 to 3\n"
    one = cli("explain", "--number", "1", data=json.dumps(WRITE).encode())
    assert one.stderr == "no message 1: there is 1 message, number 0\n"


def test_an_empty_input_is_named(cli: Cli, tmp_path: Path) -> None:
    """An input without messages is an error with its name; the exit code is 2."""
    ended = cli("explain", data=b"")
    assert (ended.exit_code, ended.stderr) == (2, "no messages in standard input\n")
    (tmp_path / "in").write_bytes(b"")
    shown = cli("explain", tmp_path / "in").stderr.replace("\n", "")
    assert shown == f"no messages in {tmp_path / 'in'}"


def test_standard_input_is_read(cli: Cli) -> None:
    """Without an input the message is what is piped in."""
    assert cli("explain", data=json.dumps(WRITE).encode()).exit_code == 0


def test_a_terminal_gets_a_table(topic: Path, on_terminal: Callable[..., str]) -> None:
    """On a terminal the fields are rows of a table, with issues below theirs."""
    shown = on_terminal("explain", topic, "--number", "1")
    assert "meaning" in shown.splitlines()[1]
    assert "expected integer or null" in shown
