"""The public API changes only where its list and the changelog say so."""

from __future__ import annotations

import ast
import os
import re
from importlib import import_module
from pathlib import Path

import pytest
from tests.packaging.public_api import PUBLIC, api, differences, gone

from changewire_messages import FORMATS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "api"
CHANGELOG = ROOT.joinpath("CHANGELOG.md").read_text(encoding="utf-8")
RENEW = "CHANGEWIRE_UPDATE_API=1 nox -s tests -- tests/packaging/test_public_api.py"


def listed(name: str) -> list[str]:
    """Return the lines of a committed list."""
    return FOLDER.joinpath(name).read_text(encoding="utf-8").splitlines()


def released() -> list[str]:
    """Return the lines of the last release; those of the code before the first one."""
    has_release = FOLDER.joinpath("released.txt").exists()
    return listed("released.txt" if has_release else "current.txt")


def section(changelog: str, title: str) -> str:
    """Return what stands below a heading of the newest part of a changelog; empty without it."""
    newest = changelog.split("\n## ")[1]
    return newest.partition(f"\n### {title}\n")[2].partition("\n### ")[0]


def told(changelog: str) -> list[str]:
    """Return the lines of the API that the newest part of a changelog names."""
    return re.findall(r"^[-+] changewire\b.*$", section(changelog, "API"), re.MULTILINE)


def never_deprecated(names: list[str], changelog: str) -> list[str]:
    """Return the names that no earlier part of a changelog calls deprecated."""
    earlier = "\n## ".join(changelog.split("\n## ")[2:])
    parts = re.findall(r"^### Deprecated\n(.*?)(?=^##|\Z)", earlier, re.MULTILINE | re.DOTALL)
    return [name for name in names if f"`{name}`" not in "".join(parts)]


def test_the_list_is_current() -> None:
    """The committed list is the API of the code."""
    found = api()
    if "CHANGEWIRE_UPDATE_API" in os.environ:
        text = "".join(f"{line}\n" for line in found)
        FOLDER.joinpath("current.txt").write_text(text, encoding="utf-8")
    changed = "\n".join(differences(listed("current.txt"), found))
    assert not changed, f"the public API has changed; if that is meant: {RENEW}\n{changed}"


def test_the_changelog_names_each_change() -> None:
    """What differs from the last release stands in the changelog, line by line."""
    wanted = differences(released(), listed("current.txt"))
    block = "\n".join(["### API", "", "```diff", *wanted, "```"]) if wanted else "nothing"
    assert told(CHANGELOG) == wanted, f"CHANGELOG.md, Unreleased, must have:\n{block}"


def test_what_is_gone_was_deprecated() -> None:
    """A name goes only after a release that called it deprecated."""
    assert never_deprecated(gone(released(), listed("current.txt")), CHANGELOG) == []


BEFORE = ["a.f(x: int) -> int", "a.C: class()", "a.C.m(self) -> None", "a.g() -> None"]
NOW = ["a.f(x: int, y: int=0) -> int", "a.g() -> None", "a.h: module"]


def test_differences_are_found() -> None:
    """Another signature, a name that is new and one that is gone are each a line."""
    assert differences(BEFORE, NOW) == [
        "- a.C: class()",
        "- a.C.m(self) -> None",
        "- a.f(x: int) -> int",
        "+ a.f(x: int, y: int=0) -> int",
        "+ a.h: module",
    ]
    assert gone(BEFORE, NOW) == ["a.C"]


def test_a_changelog_is_read_by_its_newest_part() -> None:
    """Neither lines nor deprecations of another release count."""
    old = "## [1]\n\n### Deprecated\n\n- `a.C`: use b.\n\n### API\n\n- changewire.x\n"
    new = "# C\n\n## [Unreleased]\n\n### API\n\n```diff\n+ changewire.y\n```\n\n"
    assert told(new + old) == ["+ changewire.y"]
    assert never_deprecated(["a.C", "a.D"], new + old) == ["a.D"]
    assert never_deprecated(["a.C"], new.replace("API", "Deprecated") + "- `a.C`\n") == ["a.C"]


def used(path: Path) -> set[str]:
    """Return the names that a file imports, or takes from a module."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    imported = {a.name for node in nodes if isinstance(node, ast.ImportFrom) for a in node.names}
    return imported | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_each_public_name_has_a_typed_use() -> None:
    """What a user may call is called in a file that mypy and pyright check, both strict."""
    names = {name for module in PUBLIC.values() for name in import_module(module).__all__}
    uses = set[str]().union(*map(used, (ROOT / "tests" / "typing").glob("consumer*.py")))
    assert sorted(names - uses) == []


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))], ids=lambda page: page.stem
)
def test_pages_import_what_is_public(page: Path) -> None:
    """No page teaches a module that the list leaves out."""
    found = re.findall(
        r"^\s*(?:from|import) (changewire[\w.]*)", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(found) <= {*PUBLIC, "changewire_messages", *FORMATS.values()}
