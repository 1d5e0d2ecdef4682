"""Pages use the words of the glossary, and link them to their definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from docs.making.prose import pages
from tests.docs.pages import ROOT

GLOSSARY: Final = ROOT / "docs" / "concepts" / "change-events.md"
PAGES: Final = sorted(path.relative_to(ROOT).as_posix() for path in pages())


def prose(path: Path) -> str:
    """Return the text of a page without its code."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^ *```.*?^ *```$|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text).lower().replace(" ", "-") for text in headings}


def links(page: str) -> Iterator[tuple[Path, str]]:
    """Yield the file and the anchor of each link of a page to a page."""
    path = ROOT / page
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        file, _, anchor = target.partition("#")
        if anchor and ":" not in file:
            yield (path.parent / file).resolve() if file else path, anchor


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str) -> None:
    """Each link is a file of the repository, a page that the site makes, or another site."""
    path = ROOT / page
    found = re.findall(r"\]\(([^)\s#]+)", prose(path))
    ours = [link for link in found if ":" not in link and "/made/" not in f"/{link}"]
    assert [link for link in ours if not path.parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_into_pages_lead_to_a_heading(page: str) -> None:
    """Each link with an anchor, as those to the glossary, names a heading that exists."""
    found = list(links(page))
    assert [f"{path.name}#{anchor}" for path, anchor in found if anchor not in anchors(path)] == []


def test_every_word_of_the_glossary_is_linked() -> None:
    """The glossary defines no word that no page links to."""
    text = GLOSSARY.read_text(encoding="utf-8").partition("\n## Terms\n")[2].partition("\n## ")[0]
    words = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    linked = {
        anchor for page in PAGES for path, anchor in links(page) if path == GLOSSARY.resolve()
    }
    assert {word.lower().replace(" ", "-") for word in words} - linked == set()
