"""A package that ``changewire schema generate`` made, installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli
from tests.codegen.helpers import CASES
from tests.plugins.installing import PACKAGE, forget, install
from tests.plugins.shop import write
from tests.runtime.cli.conftest import cli

from changewire_codegen.project import project

__all__ = ["cli"]  # a fixture of the tests of the command line, used here too


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the project of a JSON format, of one in MessagePack, and of row schemas."""
    folder = tmp_path_factory.mktemp("shop")
    schemas = write(folder / "schemas")
    shutil.copytree(
        CASES / "row_union", schemas / "row_union", ignore=shutil.ignore_patterns("expected")
    )
    out = folder / "out"
    project(schemas, PACKAGE, out, version="1.0", requires=["changewire"])
    return out


@pytest.fixture
def installed(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the package for one test, as pip would, and return where others go."""
    document = tomli.loads(made.joinpath("pyproject.toml").read_text("utf-8"))
    site = tmp_path / "site"
    install(site, "shop", document["project"]["entry-points"])
    monkeypatch.syspath_prepend(str(made))
    monkeypatch.syspath_prepend(str(site))
    forget()
    yield site
    forget()
