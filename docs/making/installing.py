"""The note on pages that name ``pip install changewire``, for as long as it is not published.

``docs/installing.md`` has its text. If there is none between the marks, no page has a note.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = "docs/installing.md"

FIRST: Final = re.compile(r'pip install (?:--?\S+ )*"?changewire\b')
"""The first command that names the package; the note follows it."""

_BEGIN, _END = "<!-- installing -->\n", "<!-- /installing -->\n"
_NOTE: Final = re.compile(f"\n{_BEGIN}(.*?){_END}", re.DOTALL)
_PLACES: Final = ("README.md", "docs/**/*.md", "examples/*.md")
_LEFT_OUT: Final = {"_build", "made"}


def pages(root: Path = ROOT) -> list[Path]:
    """Return the pages that name the command, except the page that has the text."""
    found = {path for pattern in _PLACES for path in root.glob(pattern)}
    return [
        path
        for path in sorted(found - {root / SOURCE})
        if not _LEFT_OUT & set(path.parts) and FIRST.search(path.read_text(encoding="utf-8"))
    ]


def renewed(page: Path, root: Path = ROOT) -> str:
    """Return the text of a page with its note after the paragraph or block of the command."""
    text = _NOTE.sub("", page.read_text(encoding="utf-8"))
    source = _NOTE.search(root.joinpath(SOURCE).read_text(encoding="utf-8"))
    note = "" if source is None else source[1]
    found = FIRST.search(text)
    if not note or found is None:
        return text
    link = Path(os.path.relpath(root / SOURCE, page.parent)).as_posix()
    place = _behind(text, found.start())
    linked = f"{note.rstrip()} See [Installing]({link}).\n"
    return f"{text[:place]}\n{_BEGIN}{linked}{_END}{text[place:]}"


def write(root: Path = ROOT) -> None:
    """Write the notes again."""
    for page in pages(root):
        page.write_text(renewed(page, root), encoding="utf-8", newline="\n")


def differences(root: Path = ROOT) -> Iterator[str]:
    """Yield a line for each page whose note is missing or differs."""
    for page in pages(root):
        if page.read_text(encoding="utf-8") != renewed(page, root):
            yield f"{page.relative_to(root).as_posix()}: the note on installing is not current"


def _behind(text: str, place: int) -> int:
    """Return the end of the paragraph, or of the fenced block, around a place."""
    is_fenced = len(re.findall(r"^ *```", text[:place], re.MULTILINE)) % 2
    end = re.compile(r"^ *```$\n?" if is_fenced else r"^$|\Z", re.MULTILINE).search(text, place)
    return len(text) if end is None else end.end() if is_fenced else end.start()
