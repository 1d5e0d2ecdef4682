"""Licences of all that an installation brings; as a command it lists them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import tomli
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYPROJECT: Final = Path(__file__).parents[2] / "pyproject.toml"

ALLOWED: Final = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-CMU",
        "MPL-2.0",  # binds who changes the package itself, which nobody here does
        "PSF-2.0",
        "Unlicense",
        "Zlib",
    }
)
"""SPDX identifiers that ask nothing of who installs a package beside an Apache-2.0 product.

``BSD`` is no such identifier: it stands for a classifier that does not tell which.
"""

CLASSIFIERS: Final = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""What stands behind ``License :: OSI Approved ::``, for packages without an expression."""

_OPERATORS: Final = frozenset({"AND", "OR"})
_UNKNOWN: Final = "unknown"


def requirements() -> list[Requirement]:
    """Return what the package and its extras require."""
    project = tomli.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(text) for texts in lists for text in texts]


def installed(wanted: Iterable[Requirement]) -> dict[str, Distribution]:
    """Return what is installed for some requirements, and for those of what they bring, by name.

    Raises:
        PackageNotFoundError: One that is needed here is not installed.
    """
    found: dict[tuple[str, frozenset[str]], Distribution] = {}
    waiting = list(wanted)
    while waiting:
        requirement = waiting.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key not in found and _is_for_here(requirement, {""}):
            found[key] = distribution(requirement.name)
            inner = map(Requirement, found[key].requires or ())
            waiting += [each for each in inner if _is_for_here(each, {"", *requirement.extras})]
    return {name: found[name, extras] for name, extras in sorted(found, key=lambda key: key[0])}


def _is_for_here(requirement: Requirement, extras: Iterable[str]) -> bool:
    """Whether this Python on this system needs it, for one of some extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def licences(package: Distribution) -> list[str]:
    """Return the identifiers of a package's licences; all of them, where it leaves a choice too."""
    expressions, classifiers, texts = (
        list[str](package.metadata.get_all(field) or ())
        for field in ("License-Expression", "Classifier", "License")
    )
    if expressions:
        words = re.findall(r"[\w.+-]+", expressions[0])
        return [word for word in words if word not in _OPERATORS]
    names = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::")]
    return [CLASSIFIERS.get(name, name) for name in names] or texts or [_UNKNOWN]


def refused(found: Iterable[str]) -> list[str]:
    """Return the licences that are not allowed."""
    return [name for name in found if name not in ALLOWED]


def main() -> int:
    """List the licence of each package; return 1 where one is not allowed."""
    try:
        packages = installed(requirements())
    except PackageNotFoundError as error:
        sys.stderr.write(f"{error.name} is not installed: nox -s licences installs all extras\n")
        return 2
    bad = 0
    for name, package in packages.items():
        found = licences(package)
        mark = "REFUSED  " if refused(found) else ""
        bad += bool(mark)
        sys.stdout.write(f"{mark}{name} {package.version}  {', '.join(found)[:80]}\n")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
