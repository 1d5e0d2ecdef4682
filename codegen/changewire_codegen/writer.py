"""Python source, line by line, with blocks that keep their own indentation."""

from __future__ import annotations

import textwrap
from collections.abc import Generator
from contextlib import contextmanager

WIDTH = 100


class Writer:
    """Collects lines; text from schemas only enters through ``docstring`` and ``literal``."""

    def __init__(self) -> None:
        """Start empty."""
        self._lines: list[str] = []
        self._depth = 0

    def __call__(self, line: str = "") -> None:
        """Add one line at the current depth."""
        self._lines.append("    " * self._depth + line if line else "")

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """Add ``head`` and indent what is written inside; an empty suite becomes ``pass``."""
        self(head)
        self._depth += 1
        before = len(self._lines)
        yield
        if head.endswith(":") and len(self._lines) == before:
            self("pass")
        self._depth -= 1

    def docstring(self, *paragraphs: str) -> None:
        """Add a docstring of paragraphs, wrapped and quoted so that no text can end it."""
        for line in quoted_docstring(paragraphs, WIDTH - 4 * self._depth):
            self(line)

    def text(self) -> str:
        """Return everything written so far."""
        return "\n".join(self._lines) + "\n"


def quoted_docstring(paragraphs: tuple[str, ...], width: int) -> list[str]:
    """Return the lines of a docstring literal that the text cannot end."""
    blocks = [
        textwrap.wrap(_escape(text), width - 4, break_long_words=False, break_on_hyphens=False)
        for text in paragraphs
    ]
    if len(blocks) == 1 and len(blocks[0]) == 1:
        return [f'"""{blocks[0][0]}"""']
    first, *rest = blocks
    lines = [f'"""{first[0]}', *first[1:]]
    for block in rest:
        lines += ["", *block]
    return [*lines, '"""']


def _escape(text: str) -> str:
    """Return text as it may stand between triple quotes: no escape, no end, nothing invisible."""
    body = text.rstrip('"')
    quotes = len(text) - len(body)
    text = body.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + '\\"' * quotes
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )
