"""What ``nox -s breaking`` compares the schemas with."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOMEBODY = {
    f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, without the settings of this machine."""
    environment = {**os.environ, **SOMEBODY, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)  # noqa: S607


def commit(folder: Path) -> None:
    """Add a commit without files."""
    git(folder, "commit", "--allow-empty", "-m", "A step")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository with one commit on its main branch."""
    git(tmp_path, "init", "--initial-branch=main")
    commit(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def compared_revision() -> Callable[[Path], str | None]:
    """Return the function of the noxfile."""
    spec = importlib.util.spec_from_file_location("noxfile", ROOT / "noxfile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[Path], str | None] = module.compared_revision
    return found


Compared = Callable[[Path], "str | None"]


def test_the_last_release_is_compared(repository: Path, compared_revision: Compared) -> None:
    """Of the tags before HEAD the one of the greatest version is taken, also if HEAD has it."""
    git(repository, "tag", "v0.9.0")
    git(repository, "tag", "v0.10.0")
    assert compared_revision(repository) == "v0.10.0"
    commit(repository)
    assert compared_revision(repository) == "v0.10.0"


def test_a_branch_is_compared_with_main(repository: Path, compared_revision: Compared) -> None:
    """Without a release, a branch is held against the main branch."""
    git(repository, "switch", "--create", "change")
    commit(repository)
    assert compared_revision(repository) == "main"


def test_main_is_compared_with_the_commit_before(
    repository: Path, compared_revision: Compared
) -> None:
    """Without a release, a commit on the main branch is held against the one before it."""
    commit(repository)
    assert compared_revision(repository) == "HEAD~1"


def test_nothing_to_compare_is_told(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, compared_revision: Compared
) -> None:
    """Neither a first commit nor a folder without a repository has anything to compare with."""
    assert compared_revision(repository) is None
    assert compared_revision(tmp_path_factory.mktemp("no_repository")) is None
