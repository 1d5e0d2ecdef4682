"""The golden cases, rendered once and importable."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

import pytest
from tests.codegen.helpers import CASES, PACKAGE

from changewire_codegen.load import load
from changewire_codegen.nodes import Family
from changewire_codegen.render import render, render_pages


@pytest.fixture(scope="session")
def families() -> Mapping[str, Family]:
    """Load the family of each golden case."""
    return {family.name: family for family in load(CASES)}


@pytest.fixture(scope="session")
def rendered(families: Mapping[str, Family]) -> Mapping[str, str]:
    """Render every file of every golden case, pages included."""
    pages = render_pages(list(families.values()))
    texts = {f"{path.removesuffix('.md')}/page.md": text for path, text in pages.items()}
    return {**render(list(families.values()), PACKAGE), **texts}


@pytest.fixture(scope="session")
def generated(
    rendered: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Make the golden cases importable as one package."""
    folder = tmp_path_factory.mktemp("generated")
    for name, text in rendered.items():
        path = folder / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
