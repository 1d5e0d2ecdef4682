"""Schemas of users to a project that can be installed, and whose formats the runtime finds."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Collection, Sequence
from json import dumps
from pathlib import Path
from typing import Final

from changewire_codegen.errors import SchemaError
from changewire_codegen.judge import Judge
from changewire_codegen.load import FAMILY_FILE, load
from changewire_codegen.names import PACKAGE_NAME
from changewire_codegen.nodes import Alias, Family, RowUnion
from changewire_codegen.render import render, render_pages
from changewire_codegen.tree import (
    PROJECT_MARK,
    Package,
    Pages,
    ProjectFile,
    compare_all,
    write_all,
)

_FORMAT: Final = re.compile(r"[a-z][a-z0-9-]*\Z")
_VERSION: Final = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?\Z")
_HIDDEN: Final = frozenset(
    {
        *("changewire", "changewire_codegen", "changewire_library", "changewire_messages", "docs"),
        *("hypothesis", "msgpack", "msgspec", "numpy", "pandas", "pyarrow", "pyspark"),
        *sys.stdlib_module_names,
    }
)
"""Names that a package cannot have: it would hide a package that it needs, or use its folder."""


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
        check: Whether to compare only.

    Returns:
        (verdict and path, diff) of each file that was out of date. Without ``check`` all files
        are up to date afterwards.

    Raises:
        SchemaError: A schema is outside the dialect, or a name cannot be used.
        TargetError: Files that the generator did not write would be lost; nothing was written.
    """
    if not PACKAGE_NAME.match(package) or keyword.iskeyword(package) or package in _HIDDEN:
        reason = "a package name must be lower-case letters, digits and _, and not taken"
        raise SchemaError(package, "", reason)
    if not _VERSION.match(version):
        raise SchemaError(version, "", "a version must have the form of PEP 440, such as 1.2.0")
    for path in sorted(schemas.glob("*/*.json")):
        if not path.with_name(FAMILY_FILE).exists():  # it would be ignored
            reason = f"a folder of schemas must have a {FAMILY_FILE}"
            raise SchemaError(path.parent.name, "", reason)
    families = load(schemas)
    _check_formats(families, taken)
    for family in families:
        if family.kind == "messages":
            Judge(family).check_examples()
    text = _project_file(families, package, version, requires)
    trees = (
        Package(out / package, render(families, package, is_project=True)),
        Pages(out / "docs", render_pages(families)),
        ProjectFile(out, {"pyproject.toml": text}),
    )
    found = compare_all(trees)
    if not check:
        write_all(trees)
    return found


def _check_formats(families: Sequence[Family], taken: Collection[str]) -> None:
    """Refuse formats with an unusable name, and formats that cannot be read."""
    known = set(taken)
    for family in families:
        file = f"{family.name}/{FAMILY_FILE}"
        if family.format is None:
            continue
        if family.format in known or not _FORMAT.match(family.format):
            reason = f"the name {family.format!r} is taken, or is not a valid name of a format"
            raise SchemaError(file, "/format", reason)
        known.add(family.format)
        message = family.definitions[family.roles["message"]]
        if isinstance(message, Alias):
            reason = "a message must be an object, or a union of objects"
            raise SchemaError(file, "/roles/message", reason)
        if family.encoding == "msgpack" and not isinstance(message, RowUnion):
            reason = "a message in MessagePack must be a union of arrays"
            raise SchemaError(file, "/roles/message", reason)


def _project_file(
    families: Sequence[Family], package: str, version: str, requires: Sequence[str]
) -> str:
    """Return the text of the file, with ``dependencies`` on what the package requires."""
    formats = {family.format: f"{package}.{family.name}" for family in families if family.format}
    points = "".join(f"{dumps(name)} = {dumps(module)}\n" for name, module in formats.items())
    section = f'[project.entry-points."changewire.formats"]\n{points}\n' if points else ""
    return f"""{PROJECT_MARK}

[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = {dumps(package.replace("_", "-"))}
version = {dumps(version)}
description = "Messages and rows as their schemas describe them, for changewire"
requires-python = ">=3.10"
classifiers = ["Private :: Do Not Upload"]
dependencies = [{", ".join(map(dumps, requires))}]

{section}[tool.hatch.build.targets.wheel]
packages = [{dumps(package)}]
"""
