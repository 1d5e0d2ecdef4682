"""A generated tree on disk: write it, or say in what it differs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

IGNORED = {"__pycache__", ".ruff_cache", ".mypy_cache"}


@dataclass(frozen=True)
class Difference:
    """One file that is not as it would be generated."""

    verdict: Literal["missing", "unexpected", "different"]
    path: str
    diff: str


def compare(root: Path, files: Mapping[str, str]) -> list[Difference]:
    """Return in what a folder differs from what would be generated into it, sorted by path."""
    present = {path.relative_to(root).as_posix() for path in _files(root)}
    found = []
    for path in sorted(present | set(files)):
        if path not in present:
            found.append(Difference("missing", path, ""))
        elif path not in files:
            found.append(Difference("unexpected", path, ""))
        else:
            text = (root / path).read_bytes().decode(errors="replace")
            if text != files[path]:
                found.append(Difference("different", path, _diff(path, text, files[path])))
    return found


def write(root: Path, files: Mapping[str, str]) -> None:
    """Make a folder hold these files and no others."""
    for difference in compare(root, files):
        path = root / difference.path
        if difference.verdict == "unexpected":
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[difference.path].encode())
    for folder in sorted((p for p in root.rglob("*") if p.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def _files(root: Path) -> list[Path]:
    return [
        path
        for path in root.rglob("*")
        if path.is_file() and not IGNORED & set(path.relative_to(root).parts)
    ]


def _diff(path: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        f"{path} (on disk)",
        f"{path} (generated)",
    )
    return "".join(lines)
