"""The site has few pages, all in its navigation, and search leaves out contributors' pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from tests.docs.pages import ROOT, all_blocks

DOCS: Final = ROOT / "docs"
FOLDERS: Final = ("start", "sources", "guides", "operate", "concepts", "reference")
GENERATED: Final = {"reference/leniencies"}
"""Pages in these folders that are written from the code."""

USERS: Final = sorted(
    path.relative_to(DOCS).with_suffix("").as_posix()
    for folder in FOLDERS
    for path in DOCS.joinpath(folder).glob("*.md")
)
CHINESE: Final = sorted(f"zh/{path.stem}" for path in DOCS.joinpath("zh").glob("*.md"))
"""Translations of pages, which do not count; tests/docs/test_chinese.py compares them."""

CONTRIBUTORS: Final = sorted(DOCS.joinpath("contributing").glob("*.md"))
INDEX: Final = DOCS.joinpath("index.md").read_text(encoding="utf-8")
MOST_PAGES, MOST_LINES = 30, 80
MOST_WORDS, MOST_STREAMS = 40_000, 5
WRITTEN: Final = sorted({"index", *USERS} - GENERATED)


def test_the_site_has_few_pages() -> None:
    """With the first page there are no more pages for users than a reader can survey."""
    assert len(WRITTEN) <= MOST_PAGES


def words(text: str) -> int:
    """Count what stands between spaces on a page, code included.

    Blocks that are written from the code do not count, and neither do the bars of tables.
    """
    written = re.sub(r"<!-- names .*?<!-- /names -->", "", text, flags=re.DOTALL)
    return sum(not re.fullmatch(r"[:-]*\|[|:-]*", word) for word in written.split())


def test_words_are_counted_without_bars_and_generated_blocks() -> None:
    """Code counts, a list of names and the lines of a table do not."""
    table = "| a | b c |\n|---|:---|\n| `x \\|` | |\n"
    assert words(f"{table}<!-- names m -->\n| d |\n<!-- /names -->\n```sh\ne -f\n```\n") == 9


def test_the_pages_for_users_are_short() -> None:
    """All pages together have no more words than a reader can read in some hours."""
    assert (
        sum(words(DOCS.joinpath(f"{page}.md").read_text("utf-8")) for page in WRITTEN) <= MOST_WORDS
    )


def test_the_command_of_a_stream_stands_on_few_pages() -> None:
    """README and the pages for users repeat the block of `changewire stream` a few times only."""
    pages = ["README.md", *(f"docs/{page}.md" for page in WRITTEN)]
    found = [
        f"{block.page}:{block.line}"
        for page in pages
        for block in all_blocks(page)
        if re.search(r"^ *(\$ )?changewire stream\b", block.code, re.MULTILINE)
    ]
    assert len(found) <= MOST_STREAMS, found


@pytest.mark.parametrize("page", [*USERS, *CHINESE])
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
