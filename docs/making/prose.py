"""Check the English of pages, docstrings, help and error texts: python -m docs.making.prose.

Of pages in Chinese it checks punctuation, spaces and terms.

vale's package on PyPI downloads its program, and proselint takes no rules of ours.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

GENERATED: Final = {"_build", "made"}
"""Folders of pages that the build of the site writes."""

_THING: Final = r"(?:(?:a|an|no|the|each|its|their) \w+|it|they|that|there|messages|changes|\w+s)"
_SAYS: Final = r"(?:says?|decides?|tells?|knows?)"
_DOES: Final = r"(?:is|are|has|have|had|can|cannot|needs?|lacks?|says?|makes?|may|does|do)"

PATTERNS: Final = {
    r"told|nobody|somebody|anybody|(?:is|are) (?-i:none)": "say who does what",
    r"(?<!there )(?:is|are|was|were) no(?! (?:longer|more|less)\b)": "write 'is not a' or 'lacks'",
    r"anew": "write 'again' or a verb such as 'rebuild'",
    r"beside|in place of": "write 'next to', 'compared with' or 'instead of'",
    r"holds?|held|holding": "write 'contains', 'has', 'keeps' or 'is true'",
    r"stands?|stood|standing": "write 'is', 'means' or 'represents'",
    r"(?:is|are) (?:not )?there": "write 'exists' or 'is missing'",
    rf"what {_THING} {_DOES}": "write a noun instead of 'what X is'",
    rf"where {_THING} {_DOES}": "write 'if' or 'when'; for a place 'in which' or 'at which'",
    r"that(?:(?![.;:|]\s).)*?\bthat(?:(?![.;:|]\s).)*?\bthat": "split a sentence of three 'that'",
    r"no (?:other )?tables? (?:took|takes|has taken)": "write 'a table refused' or 'not applied'",
    r"facts?": "name the information",
    r"floors?": "write 'minimum' or 'fixed cost'",
    r"late looks?|looks? for (?:late )?deletes|a look at": "write 'search', 'check' or 'view'",
    r"heeds?|spoilt|thereof|wherein|amid|whom|of (?:ours|yours|theirs)": "write the usual word",
    rf"(?:which|whether) [\w ]+? (?:the|its|their) \w+ {_SAYS}": "begin with the subject",
}
"""Patterns in whole words and any case, and the advice."""

ON_PAGES: Final = {
    r"(?<!far )as (?:\w+ )?\w+ (?:has|have) (?:it|them)": "write 'as in'",
    r"reject\w*": "write 'dead letter', 'refused' (by a table) or 'error'",
    r"kept|took": "write 'stored', 'unchanged', 'applied' or 'read'",
    r"plain|plainly": "write the usual word, or nothing",
    r"(?<!take )places?": "write 'position', 'path', 'folder' or 'storage'",
    r"looks(?! like\b)|looked": "write 'seems', 'checks' or 'searches'",
}
"""More patterns, for the hand-written pages for users."""

_HAN: Final = r"[\u4e00-\u9fff]"

_AFTER: Final = r"(?<=[^\u4e00-\u9fff][,;:!?)])"

IN_CHINESE: Final = {
    rf"\w*{_HAN}(?= ?[,;:!?])|\w*{_HAN}\(|{_AFTER}{_HAN}\w*": "full-width punctuation",
    rf"\w*(?:{_HAN}[A-Za-z0-9]|[A-Za-z0-9]{_HAN})\w*": "a space between Chinese and other words",
    rf"\w*{_HAN}[，。、；：）]? {_HAN}\w*": "no space and no line break between Chinese words",
    r"\w*(?:话题|死信队列|偏移(?!量)(?<!UTC 偏移)|主健|你)\w*": "the terms of docs/zh, and 您",
}
"""Patterns for pages in simplified Chinese, which the English ones do not judge."""


def pages() -> list[Path]:
    """Return the hand-written pages, and the README in both languages."""
    found = [*sorted(ROOT.glob("README*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    return [path for path in found if not GENERATED & set(path.relative_to(ROOT).parts)]


def is_for_users(page: Path) -> bool:
    """Return whether a page is written by hand for users, and not for contributors."""
    others = {"contributing", "formats", "changes", "CHANGELOG.md"}
    return page.suffix == ".md" and not others & set(page.relative_to(ROOT).parts)


def is_chinese(page: Path) -> bool:
    """Return whether a page is in Chinese."""
    return page.name.endswith(".zh.md") or page.parent.name == "zh"


def modules() -> list[Path]:
    """Return the hand-written modules of the packages."""
    return sorted(
        path for folder in ("codegen", "runtime") for path in ROOT.glob(f"{folder}/**/*.py")
    )


def texts(module: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring and help text, and of every string of two words."""
    tree = ast.parse(module)
    shown = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        or (isinstance(node, ast.keyword) and node.arg in {"help", "short_help"})
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if id(node) in shown or " " in text.strip():
                yield node.lineno, text


def found_in(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the problems of a page or a module."""
    whole = path.read_text(encoding="utf-8")
    patterns = PATTERNS | ON_PAGES if is_for_users(path) else PATTERNS
    patterns = IN_CHINESE if is_chinese(path) else patterns
    for start, text in texts(whole) if path.suffix == ".py" else [(1, whole)]:
        for line, words, advice in problems(text, patterns):
            yield start + line - 1, words, advice


def prose(text: str) -> str:
    """Return a text with spaces for code, comments, targets of links, and lists of names."""
    code = r"<!-- names.*?/names -->|^ *```.*?^ *```$|<!--.*?-->|`[^`]+`|^ +\w+: |\]\([^)\s]+\)"
    return re.sub(code, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL | re.MULTILINE)


def problems(text: str, patterns: Mapping[str, str] = PATTERNS) -> Iterator[tuple[int, str, str]]:
    """Yield the line of each problem of a page, its words and the advice."""
    words = prose(text)
    for paragraph in re.finditer(r"(?:[^\n]+\n?)+", words):
        line = paragraph[0].replace("\n", " ")
        for pattern, advice in patterns.items():
            for found in re.finditer(rf"\b(?:{pattern})\b", line, re.IGNORECASE):
                place = words.count("\n", 0, paragraph.start() + found.start()) + 1
                yield place, found[0], advice


def main() -> int:
    """Print each problem; return 1 if there are any."""
    lines = [
        f"{path.relative_to(ROOT)}:{line}: {words!r}: {advice}\n"
        for path in [*pages(), *modules()]
        for line, words, advice in found_in(path)
    ]
    sys.stdout.writelines(lines)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
