"""Schemas of somebody else to a project that can be installed, whose formats the runtime finds."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from changewire_codegen.emit.project_file import project_file
from changewire_codegen.errors import SchemaError
from changewire_codegen.load import FAMILY_FILE, load
from changewire_codegen.nodes import Alias, Family, RowUnion
from changewire_codegen.render import render, render_pages
from changewire_codegen.tree import Package, Pages, ProjectFile, compare_all, write_all

BESIDE: Final = "changewire_messages"
"""The generated package whose shared modules a project uses: the one of the runtime."""

_PACKAGE: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_FORMAT: Final = re.compile(r"[a-z][a-z0-9-]*\Z")
_VERSION: Final = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?\Z")
_HIDDEN: Final = frozenset(
    {
        *("changewire", "changewire_codegen", BESIDE, "docs"),
        *("hypothesis", "msgpack", "msgspec", "numpy", "pandas", "pyarrow", "pyspark"),
        *sys.stdlib_module_names,
    }
)
"""Names that a package cannot have: it would hide one that it needs, or take another's folder."""


def project(
    schemas: Path,
    package: str,
    out: Path,
    *,
    version: str,
    requires: Sequence[str],
    taken: Collection[str] = (),
    check: bool = False,
) -> list[tuple[str, str]]:
    """Write a project, or compare it with what would be written.

    Args:
        schemas: Folder of families, each a folder with a ``family.json``.
        package: Import name of the package.
        out: Folder of the project: it gets ``pyproject.toml``, ``docs`` and the package.
        version: Version of the package, in the form of PEP 440.
        requires: Distributions that it needs.
        taken: Names that its formats cannot have.
        check: Whether to compare alone.

    Returns:
        (verdict and path, diff) of each file that was not as the schemas say; where nothing is to
        be checked alone, it is now.

    Raises:
        SchemaError: A schema is outside the dialect, or a name cannot be used.
        OutputError: Files that the generator did not write would be lost; nothing was written.
    """
    _check_names(package, version)
    _check_folders(schemas)
    families = load(schemas)
    _check_formats(families, taken)
    text = project_file(families, package, version=version, requires=requires)
    trees = (
        Package(out / package, render(families, package, beside=BESIDE)),
        Pages(out / "docs", render_pages(families)),
        ProjectFile(out, {"pyproject.toml": text}),
    )
    found = compare_all(trees)
    if not check:
        write_all(trees)
    return found


def _check_names(package: str, version: str) -> None:
    if not _PACKAGE.match(package) or keyword.iskeyword(package) or package in _HIDDEN:
        reason = "a package name is lower case letters, digits, _, and no name of another package"
        raise SchemaError(package, "", reason)
    if not _VERSION.match(version):
        raise SchemaError(version, "", "a version is numbers with dots between, as in PEP 440")


def _check_folders(schemas: Path) -> None:
    """Refuse a folder of schemas that would be passed over."""
    for path in sorted(schemas.glob("*/*.json")):
        if not path.with_name(FAMILY_FILE).exists():
            reason = f"a folder of schemas has a {FAMILY_FILE}"
            raise SchemaError(path.parent.name, "", reason)


def _check_formats(families: Sequence[Family], taken: Collection[str]) -> None:
    """Refuse formats that nobody could ask for, or that cannot be read."""
    known = set(taken)
    for family in families:
        file = f"{family.name}/{FAMILY_FILE}"
        if family.format is None:
            continue
        if family.format in known or not _FORMAT.match(family.format):
            reason = f"the name {family.format!r} is taken, or no name of a format"
            raise SchemaError(file, "/format", reason)
        known.add(family.format)
        message = family.definitions[family.roles["message"]]
        if isinstance(message, Alias):
            reason = "a message is an object, or a union of objects"
            raise SchemaError(file, "/roles/message", reason)
        if family.encoding == "msgpack" and not isinstance(message, RowUnion):
            reason = "a message in MessagePack is a union of arrays"
            raise SchemaError(file, "/roles/message", reason)
