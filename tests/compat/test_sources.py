"""Where a state of schemas may come from."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.codegen.helpers import CASES, SCHEMAS
from tests.compat.pairs import state

from changewire_codegen.compat.diff import compare_families
from changewire_codegen.compat.sources import SourceError, families_of
from changewire_codegen.errors import SchemaError
from changewire_codegen.load import load

Git = Callable[..., str]


def test_installed_schemas_are_those_of_the_repository() -> None:
    """The package brings the schemas that it was generated from, with every text in them."""
    compared = compare_families(families_of("installed"), families_of(str(SCHEMAS)))
    assert [item.found for item in compared] == [[]] * len(load(SCHEMAS))


def test_a_folder_may_hold_one_family() -> None:
    """The folder of one family is taken as well as that of several."""
    assert [family.name for family in families_of(str(CASES / "rows"))] == ["rows"]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Make an empty repository the current folder, and return what runs git in it."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))

    def run(*arguments: str) -> str:
        ended = subprocess.run(["git", *arguments], capture_output=True, check=True)  # noqa: S607
        return ended.stdout.decode()

    run("init", "--quiet")
    return run


def committed(git: Git, folder: str) -> Path:
    """Commit the schemas of a golden case, and change them afterwards."""
    shutil.copytree(CASES / "scalars", Path(folder) / "scalars")
    git("add", ".")
    git("commit", "--quiet", "--message", "Schemas")
    git("tag", "v1")
    path = Path(folder) / "scalars" / "reading.json"
    schema = json.loads(path.read_bytes())
    schema["properties"]["percent"]["maximum"] = 90
    path.write_text(json.dumps(schema), encoding="utf-8")
    return path


def test_a_revision_holds_what_was_committed(git: Git) -> None:
    """A tag is read from git, from any folder of the checkout; the working copy stays apart."""
    path = committed(git, "schemas")
    for name in ("git:v1", "v1", "git:HEAD:schemas"):
        (compared,) = compare_families(families_of(name), families_of("schemas"))
        (found,) = compared.found
        assert (found.rule, found.file) == ("MAXIMUM_NO_LOWER", "scalars/reading.json")
    assert json.loads(path.read_bytes())["properties"]["percent"]["maximum"] == 90


def test_a_revision_may_name_its_folder(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Schemas elsewhere in the checkout are named behind the revision, as git does it."""
    committed(git, "our/messages")
    monkeypatch.chdir("our")
    (family,) = families_of("git:v1:our/messages")
    assert family.name == "scalars"
    with pytest.raises(SourceError, match="no revision with schemas"):
        families_of("git:v1")


@pytest.mark.parametrize(
    "source", ["nowhere", "git:v2", "git:--output=x", "--output=x", "git:", "", "v1:..:.."]
)
def test_what_is_nowhere_is_refused(source: str, git: Git) -> None:
    """What is no folder, file or revision is an error that names it, and no option of git."""
    committed(git, "schemas")
    with pytest.raises((SourceError, SchemaError)) as caught:
        families_of(source)
    assert str(caught.value).startswith(f"{source}: ")
    assert not Path("x").exists()


def test_a_bad_schema_is_named_with_its_source(tmp_path: Path) -> None:
    """A schema outside the dialect is told with source, file and place."""
    path = tmp_path / "row.json"
    path.write_text('{"title": "Row", "description": "A row.", "allOf": [], "examples": [1]}')
    with pytest.raises(SchemaError, match="no keyword 'allOf'") as caught:
        families_of(str(path))
    assert str(caught.value).startswith(f"{path}: schema/schema.json#")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"items":' * 100_000, "[]", "\ud800"])
def test_what_is_no_schema_is_refused(text: str, tmp_path: Path) -> None:
    """A file that is no schema, or is nested without end, is a ValueError."""
    path = tmp_path / "row.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match=r"row\.json"):
        families_of(str(path))


def test_a_schema_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    """The parser takes such depth, and generated code does not."""
    node = '{"type": "array", "items": ' * 300 + "{}" + "}" * 300
    text = (
        '{"title": "Row", "description": "A row.", "examples": [1], "items": %s, "type": "array"}'
    )
    path = tmp_path / "row.json"
    path.write_text(text % node)
    with pytest.raises(ValueError, match="more than 20 levels deep"):
        families_of(str(path))


def test_a_family_may_be_one_document() -> None:
    """A file may hold a family as one document, as packages bring it."""
    (family,) = families_of(state("ROLE_NO_ADD", "new"))
    assert (family.format, sorted(family.schemas)) == (
        "sample-json",
        ["batch.json", "message.json"],
    )
