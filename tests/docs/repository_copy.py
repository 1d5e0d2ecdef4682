"""A copy of the repository, in which the steps of CONTRIBUTING.md are followed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COPIED = ("codegen", "docs", "examples", "generated", "runtime", "schemas", "tests")
CORPUS, PAGES = "tests/runtime/codec/test_corpus.py", "tests/docs/test_change_pages.py"
ALL = ("tests/runtime/codec/test_round_trip.py", "tests/runtime/codec/test_verdicts.py")
"""Tests that hold for every format."""


@dataclass(frozen=True)
class Copy:
    """A copy of the repository, in which a message changes."""

    folder: Path

    def python(self, *words: str, **environment: str) -> str:
        """Run Python in the copy, with its own packages."""
        path = os.pathsep.join(str(self.folder / root) for root in ROOTS)
        ended = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout.decode() + ended.stderr.decode()
        return ended.stdout.decode()

    def git(self, *words: str) -> None:
        """Run git in the copy."""
        who = {f"GIT_{name}_{what}": "somebody" for name in WHO for what in ("NAME", "EMAIL")}
        environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", *words], cwd=self.folder, env=environment, check=True)  # noqa: S607

    def change(self, file: str, edit: Callable[[Any], None]) -> None:
        """Edit a JSON file of the copy."""
        path = self.folder / file
        document = json.loads(path.read_bytes())
        edit(document)
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")

    def changed(self) -> set[str]:
        """Return the files that are not as they were committed, but for those that are made."""
        done = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=all"],  # noqa: S607
            cwd=self.folder,
            check=True,
            capture_output=True,
        )
        paths = {line[3:] for line in done.stdout.decode().splitlines()}
        return {path for path in paths if not path.startswith(MADE)}


ROOTS = ("codegen", "generated", "runtime")
MADE = ("generated/", "docs/formats/")
"""Files that the generator writes."""

WHO = ("AUTHOR", "COMMITTER")


def steps(title: str) -> list[str]:
    """Return the numbered steps of a section, each as one line."""
    text = ROOT.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(f"## {title}\n")[1].split("\n## ")[0]
    return [" ".join(step.split()) for step in re.split(r"^\d\. ", section, flags=re.MULTILINE)[1:]]


def copied(folder: Path) -> Copy:
    """Make a copy of the repository, committed as it is."""
    found = Copy(folder)
    ignored = shutil.ignore_patterns("__pycache__", "_build", "made", "*.egg-info")
    for name in COPIED:
        shutil.copytree(ROOT / name, found.folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", found.folder)
    found.folder.joinpath(".gitignore").write_text("__pycache__/\n", "utf-8")
    found.git("init", "--quiet")
    found.git("add", ".")
    found.git("commit", "--quiet", "--message", "Before")
    return found
