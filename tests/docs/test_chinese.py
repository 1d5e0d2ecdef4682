"""Pages in Chinese follow English pages: the same code, names, outline and links, and a date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

import pytest
from tests.docs.pages import ROOT, TRANSLATED, all_blocks

PAIRS: Final = TRANSLATED.items()
FOLLOWS: Final = re.compile(
    r"\A# .+\n\n(?:.+\n\n)?> 本文对应英文版 \[(.+?)\]\(([^)\s]+)\)（(\d{4}-\d{2}-\d{2})）。"
)
"""The title, links to other languages, and the line that names the English page and its date."""

each_pair = pytest.mark.parametrize(("chinese", "english"), PAIRS, ids=TRANSLATED)


def prose(page: str) -> str:
    """Return the text of a page without its blocks, comments, directives and line on languages."""
    text = ROOT.joinpath(page).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^.*\| \[?(?:English|简体中文).*$|^> .*$", "", text, flags=re.MULTILINE)


def outline(page: str) -> list[str]:
    """Return the kind of each heading, row of a table, item of a list and picture."""
    kinds = re.findall(r"^(#+ |\||- |\d+\. |!)", prose(page), re.MULTILINE)
    return [kind if kind[0] != "#" else kind.strip() for kind in kinds]


def links(page: str) -> Iterator[str]:
    """Yield the file of each link to another page, with its English page for a Chinese one."""
    for target in re.findall(r"\]\(([^)\s#]+)", prose(page)):
        file = ROOT.joinpath(page).parent.joinpath(target).resolve().relative_to(ROOT.resolve())
        yield TRANSLATED.get(file.as_posix(), file.as_posix())


@each_pair
def test_the_page_names_the_english_page_and_its_date(chinese: str, english: str) -> None:
    """The line below the title has a link to the page, its path and a day."""
    found = FOLLOWS.match(ROOT.joinpath(chinese).read_text(encoding="utf-8"))
    assert found is not None
    path, link, day = found.groups()
    assert path == english
    assert ROOT.joinpath(chinese).parent.joinpath(link).samefile(ROOT / english)
    assert date.fromisoformat(day).isoformat() == day


@each_pair
def test_blocks_of_code_are_the_same(chinese: str, english: str) -> None:
    """All blocks are equal, in their order: a change in English needs one in Chinese."""
    of_chinese, of_english = (
        [(block.language, block.code) for block in all_blocks(page)] for page in (chinese, english)
    )
    assert of_chinese
    assert of_chinese == of_english


@each_pair
def test_names_are_the_same(chinese: str, english: str) -> None:
    """What is in backticks, such as options and codes, is on both pages."""
    of_chinese, of_english = (
        {*re.findall(r"`([^`\n]+)`", prose(page))} for page in (chinese, english)
    )
    assert of_chinese == of_english


@each_pair
def test_the_outline_is_the_same(chinese: str, english: str) -> None:
    """Headings, rows of tables, items of lists and pictures have the same order."""
    assert outline(chinese) == outline(english)


@each_pair
def test_links_lead_to_the_same_pages(chinese: str, english: str) -> None:
    """Each page that one links to is linked by the other, in either language."""
    own = {english, "docs/index.md"}  # each may lead to its own page, and to the first one
    assert {*links(chinese)} - own == {*links(english)} - own


def test_every_chinese_page_follows_one() -> None:
    """No page in Chinese is without its English page."""
    files = [*ROOT.glob("*.zh.md"), *ROOT.glob("docs/zh/*.md")]
    assert {path.relative_to(ROOT).as_posix() for path in files} == TRANSLATED.keys()
