"""Pages and the code blocks in them: which are run, which are not and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]

DATA: Final = ("diff", "json", "text")
"""Languages of blocks that are messages or other data, which nothing can run."""

TRANSLATED: Final = {
    "README.zh.md": "README.md",
    "docs/zh/index.md": "docs/index.md",
    "docs/zh/first-table.md": "docs/start/first-table.md",
    "docs/zh/own-topic.md": "docs/start/own-topic.md",
    "docs/zh/dataworks.md": "docs/sources/dataworks.md",
    "docs/zh/lindorm.md": "docs/sources/lindorm.md",
}
"""Pages in Chinese, and the English pages that they follow."""

_BLOCK: Final = re.compile(
    r"(?P<mark><!-- not run: (?P<reason>[^>]+) -->\n)?"
    r"^ *```(?P<language>[^\n`]*)\n(?P<code>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)
_PAGE: Final = re.compile(r"<!-- not run, (?P<language>\w+): (?P<reason>[^>]+) -->")


class Block(NamedTuple):
    """A block of code.

    Attributes:
        page: Its page, as a path below the root of the repository.
        line: Where its fence stands, from 1.
        language: What stands behind the fence.
        code: What stands between the fences.
        reason: Why it is not run; None where it is to be run.
    """

    page: str
    line: int
    language: str
    code: str
    reason: str | None


def blocks(page: str, language: str = "python") -> list[str]:
    """Return the code of a page that is to be run, in one language."""
    return [b.code for b in all_blocks(page) if b.language == language and b.reason is None]


def tutorial_messages() -> list[str]:
    """Return the messages of the tutorial, on which other pages go on."""
    text = blocks("docs/start/first-table.md", "sh")[0]
    return re.findall(r"^\{.*\}$", text, re.MULTILINE)


def all_blocks(page: str) -> Iterator[Block]:
    """Yield every block of code on a page; what Sphinx reads as a directive is none.

    ``<!-- not run: REASON -->`` above a block says why no test runs it, and ``<!-- not run,
    LANGUAGE: REASON -->`` anywhere on a page says it of all its blocks in that language.
    """
    text = ROOT.joinpath(page).read_text(encoding="utf-8")
    reasons: Mapping[str, str] = {m["language"]: m["reason"] for m in _PAGE.finditer(text)}
    for found in _BLOCK.finditer(text):
        language = found["language"]
        line = text.count("\n", 0, found.start("code"))
        if not language.startswith("{"):
            reason = found["reason"] or reasons.get(language)
            yield Block(page, line, language, found["code"], reason)


def in_sections(page: str, *titles: str) -> list[Block]:
    """Return the blocks of a page below these headings, in the order of the page."""
    text = ROOT.joinpath(page).read_text(encoding="utf-8")
    spans = []
    for title in titles:
        (start,) = re.finditer(rf"^(##+) {re.escape(title)}$", text, re.MULTILINE)
        end = re.compile(rf"^#{{2,{len(start[1])}}} ", re.MULTILINE).search(text, start.end())
        last = end.start() if end else len(text)
        spans.append((text.count("\n", 0, start.start()), text.count("\n", 0, last)))
    return [b for b in all_blocks(page) if any(first < b.line <= last for first, last in spans)]


def links(page: str) -> Iterator[str]:
    """Yield the targets of a page's links, as they are written."""
    text = ROOT.joinpath(page).read_text(encoding="utf-8")
    yield from re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
