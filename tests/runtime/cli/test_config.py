"""``--config``: options of a command from a TOML file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.cli.conftest import Ended
from tests.samples import FORMAT

Cli = Callable[..., Ended]


def written(folder: Path, text: str) -> Path:
    """Return a file with a text."""
    file = folder / "run.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_options_come_from_a_file_and_the_command_line_wins(
    cli: Cli, good: Path, tmp_path: Path
) -> None:
    """Names may have hyphens or underscores; lists are options that are repeated."""
    output = tmp_path / "out"
    text = f"format = {FORMAT!r}\noutput = {str(output)!r}\nengine = 'spark'\nshow_values = true\n"
    file = written(tmp_path, "\ufeff" + text)  # as editors of Windows write it
    ended = cli("run", "--config", file, "--engine", "python", good, "--json")
    assert ended.exit_code == 0, ended.stderr
    assert json.loads(ended.stdout)["engine"].startswith("python")
    assert (output / "log").is_dir()
    keys = written(
        tmp_path,
        f"format = 'lindorm-json'\noutput = {str(output)!r}\nkey_column = ['id']\n"
        "fail_on = 'never'\n",
    )
    assert cli("run", "--config", keys, good).exit_code == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nothing = 1", "run has no option nothing; it has: "),
        ("a = ", "expected TOML"),
        ("engine = 'fast'", "'fast' is not one of: python, spark"),
        (None, "No such file"),
        ("output = true", "run.toml: output: expected string or integer, found boolean"),
        ("default-table = ['x']", "default-table: expected string or integer, found array of str"),
        ("max-dead-letters = 5.0", "max-dead-letters: expected string or integer, found number"),
        ("max-new-tables = true", "max-new-tables: expected string or integer, found boolean"),
        ("show_values = 'true'", "show_values: expected boolean, found string"),
        ("only = 'a'", "only: expected array of string, found string"),
        ("only = [['a'], 'b']", "only: expected array of string, found array of array and string"),
        ("a = " + "[" * 9999, "expected TOML: it is nested too deep"),
        ("#" * (2**24 + 1), "expected TOML of at most 16777216 characters"),
    ],
    ids=lambda text: text and text[:20],
)
def test_a_wrong_file_is_wrong_usage(
    cli: Cli, good: Path, tmp_path: Path, text: str | None, sentence: str
) -> None:
    """The file, the option and the reason are named."""
    file = tmp_path / "missing.toml" if text is None else written(tmp_path, text)
    ended = cli("run", "--config", file, "-f", FORMAT, "-o", tmp_path / "out", good)
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 0),
        (("--fail-on", "dead-letters"), 1),
        (("--fail-on", "1%"), 1),
        (("--fail-on", "99%"), 0),
    ],
)
def test_dead_letters_fail_a_run_when_asked(
    cli: Cli, mixed: Path, tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    """By default a run with dead letters succeeds, and says which rule it followed."""
    run = ("run", "-f", FORMAT, "-o", tmp_path, mixed)
    ended = cli(*run, *words)
    assert ended.exit_code == code
    assert f"exit code {code} (--fail-on {words[1] if words else 'all'})" in ended.stderr


def test_a_wrong_share_is_wrong_usage(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    """What is neither a word nor a share is named."""
    ended = cli("run", "-f", FORMAT, "-o", tmp_path, "--fail-on", "5", mixed)
    assert ended.exit_code == 2
    assert "found '5'" in " ".join(ended.stderr.replace("│", " ").split())
