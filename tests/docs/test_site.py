"""The site has few pages, all in its navigation, and search leaves out contributors' pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from tests.docs.pages import ROOT

DOCS: Final = ROOT / "docs"
FOLDERS: Final = ("start", "sources", "guides", "operate", "concepts", "reference")
GENERATED: Final = {"reference/leniencies"}
"""Pages in these folders that are written from the code."""

USERS: Final = sorted(
    path.relative_to(DOCS).with_suffix("").as_posix()
    for folder in FOLDERS
    for path in DOCS.joinpath(folder).glob("*.md")
)
CONTRIBUTORS: Final = sorted(DOCS.joinpath("contributing").glob("*.md"))
INDEX: Final = DOCS.joinpath("index.md").read_text(encoding="utf-8")
MOST_PAGES, MOST_LINES = 30, 80


def test_the_site_has_few_pages() -> None:
    """With the first page there are no more pages for users than a reader can survey."""
    assert len({"index", *USERS} - GENERATED) <= MOST_PAGES


@pytest.mark.parametrize("page", USERS)
def test_each_page_is_in_the_navigation(page: str) -> None:
    """The first page lists it, or a page that has it below itself does."""
    name = page.rpartition("/")[2]
    others = (DOCS.joinpath(f"{one}.md").read_text(encoding="utf-8") for one in USERS)
    listed = rf"^{page}$|^(\.\./)?\w*/?{name}$"
    assert any(
        re.search(listed, block, re.MULTILINE)
        for text in (INDEX, *others)
        for block in re.findall(r"```{toctree}\n(.*?)```", text, re.DOTALL)
    )


@pytest.mark.parametrize("page", CONTRIBUTORS, ids=lambda page: page.stem)
def test_search_leaves_out_pages_for_contributors(page: Path) -> None:
    """Sphinx does not index what says so above its title."""
    assert page.read_text(encoding="utf-8").startswith("---\nnosearch: true\n---\n")


def test_the_readme_is_short() -> None:
    """It has no more lines than a reader surveys."""
    lines = ROOT.joinpath("README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
