"""The licences of dependencies are known, and allowed."""

from __future__ import annotations

import re
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.packaging.licences import installed, licences, main, refused, requirements

PAGE = (
    Path(__file__)
    .parents[2]
    .joinpath("docs", "contributing", "dependencies.md")
    .read_text(encoding="utf-8")
)


def test_all_licences_are_allowed() -> None:
    """No package that an extra brings has a licence that is not in the table."""
    packages = installed(requirements())
    assert {"msgspec", "py4j", "markupsafe"} <= packages.keys()
    found = {name: refused(licences(package)) for name, package in packages.items()}
    assert {name: names for name, names in found.items() if names} == {}


def test_the_page_says_what_packages_say() -> None:
    """The licences of our own dependencies stand on the page of dependencies."""
    cells = dict(re.findall(r"^\| `([\w-]+)` \| `[^|]+` \| ([^|]+) \|", PAGE, re.MULTILINE))
    own = {requirement.name for requirement in requirements()} & cells.keys()
    packages = installed([Requirement(name) for name in own])
    for name in own:
        for licence in licences(packages[name]):
            assert licence.split("-")[0] in cells[name], name


class Package(Distribution):
    """A package of which only its metadata is known."""

    def __init__(self, metadata: str) -> None:
        """Keep the text of the metadata."""
        self._text = f"Metadata-Version: 2.4\nName: p\nVersion: 1\n{metadata}\n"

    def read_text(self, filename: str) -> str | None:
        """Return a file of the metadata."""
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: object) -> Path:
        """Return where a file is, of which there is none."""
        return Path(str(path))


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ("License-Expression: MIT AND (Apache-2.0 OR MPL-2.0)", []),
        ("License-Expression: MIT OR GPL-3.0-only", ["GPL-3.0-only"]),
        ("License-Expression: Apache-2.0 WITH LLVM-exception", ["WITH", "LLVM-exception"]),
        ("License: MIT", []),
        ("License: Free for friends", ["Free for friends"]),
        ("Classifier: License :: OSI Approved :: BSD License\nLicense: see LICENSE", []),
        ("Classifier: License :: Other/Proprietary License", ["Other/Proprietary License"]),
        ("", ["unknown"]),
    ],
)
def test_licences_are_refused_unless_they_are_allowed(metadata: str, expected: list[str]) -> None:
    """Of an expression each part counts; what a package does not say is not allowed."""
    assert refused(licences(Package(metadata))) == expected


def test_the_command_lists_each_package(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line is a package with its version and its licences."""
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(re.fullmatch(r"msgspec [\d.]+  BSD-3-Clause", line) for line in lines)
