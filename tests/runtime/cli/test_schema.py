"""``changewire schema``: what a schema says, and what changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.cli.conftest import Ended, json_lines

from changewire_messages import FORMATS, lindorm_json

Cli = Callable[..., Ended]

PLACE = "schema/schema.json#/properties/value"
PAIRS = Path(__file__).parents[2] / "compat"


def pair(name: str) -> tuple[Path, Path]:
    """Return the two states of a rule's pair."""
    return PAIRS / name / "old.json", PAIRS / name / "new.json"


def test_show_writes_the_schema_of_a_kind(cli: Cli) -> None:
    """The digest of the text is the one that the package names."""
    ended = cli("schema", "show", "lindorm-json", "Insert")
    digest = f"sha256:{sha256(ended.stdout.encode()).hexdigest()}"
    assert (digest, ended.exit_code) == (lindorm_json.DIGESTS["Insert"], 0)
    assert json.loads(cli("schema", "show", "lindorm-json").stdout)["title"] == "Message"


@pytest.mark.parametrize(
    ("form", "text"), [("spark-ddl", "`before`: string"), ("arrow", "before: string")]
)
def test_show_writes_columns(cli: Cli, form: str, text: str) -> None:
    """The columns that messages have in Spark and in Arrow can be shown."""
    ended = cli("schema", "show", "lindorm-json", "Insert", "--as", form)
    assert (ended.exit_code, text in ended.stdout) == (0, True), ended.stdout


def test_formats_are_listed_with_the_digests_of_their_schemas(cli: Cli) -> None:
    """Each variant has the digest that its package names."""
    found = json_lines(cli("schema", "list", "--json").stdout)
    for item in found:
        digests = import_module(FORMATS[item["format"]]).DIGESTS
        assert all(one["digest"] == digests[one["name"]] for one in item["variants"])


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (("nothing",), "lindorm-json"),
        (("lindorm-json", "Nothing"), "Insert"),
        (("lindorm-json", "Message", "--as", "spark-ddl"), "Insert"),
        (
            ("aerospike-json", "Key", "--as", "arrow"),
            "variants of aerospike-json are Delete, Write",
        ),
    ],
)
def test_show_names_what_there_is_instead(cli: Cli, words: tuple[str, ...], known: str) -> None:
    """An unknown format or kind is wrong usage, and the known ones are named."""
    ended = cli("schema", "show", *words)
    assert ended.exit_code == 2
    assert known in ended.stderr


def test_diff_says_what_happened_and_shows_it(cli: Cli) -> None:
    """Each difference has place, words, verdicts and rule, and a message that is lost."""
    ended = cli("schema", "diff", *pair("MAXIMUM_NO_LOWER.leniency"))
    assert ended.stdout.splitlines() == [
        "schema/schema.json#/examples: description or examples changed",
        "  readers: compatible; writers: compatible (SCHEMA_SAME_TEXT)",
        f"{PLACE}/maximum: the greatest value was 99999, is 65535",
        "  readers: leniency gone; writers: compatible (MAXIMUM_NO_LOWER)",
        '  accepted before and rejected now: {"value": 65536}',
        f"{PLACE}/x-leniency (before): a leniency is not counted any more: beyond-16-bits",
        "  readers: compatible; writers: compatible (LENIENCY_NO_DELETE)",
    ]
    assert ended.stderr == "3 differences; readers: 1 leniency gone; writers: compatible\n"
    assert ended.exit_code == 1


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("PROPERTY_NO_ADD", {"FULL": 0, "BACKWARD": 0, "FORWARD": 0}),
        ("REQUIRED_NO_ADD", {"FULL": 1, "BACKWARD": 1, "FORWARD": 0}),
        ("TYPE_NO_ADD", {"FULL": 1, "BACKWARD": 0, "FORWARD": 1}),
        ("TYPE_NO_ADD.leniency", {"FULL": 1, "BACKWARD": 0, "FORWARD": 1}),
    ],
)
def test_diff_ends_as_the_level_asks(cli: Cli, name: str, codes: dict[str, int]) -> None:
    """BACKWARD asks for readers, FORWARD for writers, FULL for both; 1 where one is hurt."""
    for level, code in codes.items():
        ended = cli("schema", "diff", *pair(name), "--compatibility", level, "--no-witnesses")
        assert ended.exit_code == code


def test_diff_writes_json(cli: Cli) -> None:
    """With --json each difference is an object; a message of MessagePack is hex text."""
    found: list[dict[str, Any]] = json_lines(
        cli("schema", "diff", *pair("POSITION_NO_ADD"), "--json").stdout
    )
    added = next(item for item in found if item["rule"] == "POSITION_NO_ADD")
    assert added["witnesses"]["readers"] == {"schema": "sample.json", "message": "92 01 a1 61"}
    assert (added["readers"], added["writers"]) == ("breaking", "breaking")


def test_diff_says_where_no_message_shows_it(cli: Cli) -> None:
    """What no example shows is said to be so."""
    ended = cli("schema", "diff", *pair("FAMILY_SAME_FORMAT"))
    assert "  readers: no example of the schemas shows it" in ended.stdout.splitlines()


def test_diff_cannot_tell_what_is_not_there(cli: Cli, tmp_path: Path) -> None:
    """Where a state is missing the exit code is 2, with one sentence."""
    ended = cli("schema", "diff", tmp_path / "none", "installed")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "no such folder or file" in ended.stderr


def test_diff_names_the_extra_that_it_needs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the generator the error says what to install."""
    monkeypatch.setitem(sys.modules, "changewire_codegen.compat.diff", None)
    ended = cli("schema", "diff", "installed", "installed")
    assert ended.exit_code == 2
    assert 'pip install "./changewire[codegen]"' in ended.stderr
