"""The command line with a package of somebody else: made by it, and used by it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.plugins.installing import PACKAGE, forget, install
from tests.plugins.shop import FORMAT, write
from tests.plugins.test_formats import DROPPED, PLACED
from tests.runtime.cli.conftest import Ended, json_lines

Cli = Callable[..., Ended]


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    """A file of messages of the format, one of them refused."""
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join([PLACED, DROPPED, b'{"kind":"placed","order":"x"}']))
    return path


@pytest.mark.usefixtures("installed")
def test_commands_take_the_format(cli: Cli, topic: Path) -> None:
    """What is installed is listed, told, read, checked and written without a change of ours."""
    assert json.loads(cli("explain", "--count", "--json", topic).stdout)["formats"][FORMAT]
    decoded = cli("decode", "-f", FORMAT, topic)
    assert [line["model"] for line in json_lines(decoded.stdout)] == ["Placed", "Dropped"]
    lines = cli("encode", "-f", FORMAT, data=decoded.stdout.encode()).stdout
    assert lines.encode() == PLACED.replace(b"1.50", b"1.5") + b"\n" + DROPPED + b"\n"
    assert "/order: expected integer" in cli("validate", "-f", FORMAT, topic).stdout
    events = json_lines(cli("decode", "--as", "changes", "-f", "auto", topic).stdout)
    assert [event["op"] for event in events] == ["other", "other"]
    listed = {line["format"]: line for line in json_lines(cli("schema", "list", "--json").stdout)}
    assert [v["name"] for v in listed[FORMAT]["variants"]] == ["Placed", "Dropped"]
    assert json.loads(cli("schema", "show", FORMAT, "Placed").stdout)["title"] == "Placed"
    assert "Placed  # An order was placed." in cli("explain", topic).stdout


def test_what_cannot_be_used_is_named(cli: Cli, installed: Path, topic: Path) -> None:
    """The commands that list things name it, and its own name is one clear sentence."""
    install(installed, "broken", {"changewire.formats": {"broken": "no_such_package"}})
    forget()
    reason = "format 'broken' cannot be loaded (ModuleNotFoundError"
    assert reason in cli("schema", "list").stderr
    (finding,) = [
        line
        for line in json_lines(cli("doctor", "--json").stdout)
        if line["name"] == "format broken"
    ]
    assert reason in finding["advice"]
    ended = cli("decode", "-f", "broken", topic)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert reason in ended.stderr
    assert cli("decode", "-f", FORMAT, topic).exit_code == 1


def test_a_package_is_made_and_checked(cli: Cli, tmp_path: Path) -> None:
    """The command writes a project, and names what in it is not as the schemas say."""
    schemas, out = write(tmp_path / "schemas"), tmp_path / "out"
    shutil.rmtree(schemas / "shop")
    words = ("schema", "generate", "--schemas", schemas, "--package", PACKAGE, "--out", out)
    made = cli(*words)
    assert (made.exit_code, made.stdout) == (0, "")
    assert f"files written; next: pip install {out}" in made.stderr
    (out / PACKAGE / "rows" / "models.py").write_text("changed = 1\n")
    (out / "pyproject.toml").unlink()
    ended = cli(*words, "--check")
    assert ended.exit_code == 1
    assert f"different: {(out / PACKAGE / 'rows' / 'models.py').as_posix()}" in ended.stdout
    assert f"missing: {(out / 'pyproject.toml').as_posix()}" in ended.stdout
    assert "2 files are not up to date; to update them: changewire " in ended.stderr


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("aerospike-json", PACKAGE, "1"), "the name 'aerospike-json' is taken"),
        (("auto", PACKAGE, "1"), "the name 'auto' is taken"),
        (("a\n", PACKAGE, "1"), "is taken, or is not a valid name of a format"),
        ((FORMAT, "json", "1"), "and not taken"),
        ((FORMAT, "changewire", "1"), "and not taken"),
        ((FORMAT, "class", "1"), "and not taken"),
        ((FORMAT, "a.b", "1"), "and not taken"),
        ((FORMAT, "../up", "1"), "and not taken"),
        ((FORMAT, PACKAGE, '1"\nx = "'), "a version must have the form of PEP 440"),
    ],
)
def test_names_that_nobody_could_use_are_refused(
    names: tuple[str, str, str], reason: str, cli: Cli, tmp_path: Path
) -> None:
    """Nothing is written where a package, a version or a format could not be used."""
    schemas, (name, package, version) = write(tmp_path / "schemas"), names
    path = schemas / "shop" / "family.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "format": name}))
    words = ("--schemas", schemas, "--package", package, "--out", tmp_path / "out")
    ended = cli("schema", "generate", *words, "--package-version", version)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert reason in ended.stderr
    assert not (tmp_path / "out").exists()


def test_generate_names_the_extra_that_it_needs(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the generator the error says what to install."""
    monkeypatch.setitem(sys.modules, "changewire_codegen.project", None)
    ended = cli(
        "schema", "generate", "--schemas", tmp_path, "--package", "a", "--out", tmp_path / "out"
    )
    assert ended.exit_code == 2
    assert 'pip install "./changewire[codegen]"' in ended.stderr
