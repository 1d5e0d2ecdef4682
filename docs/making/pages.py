"""Writes the pages that are generated while the site is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from docs.making import commands, options, plots, rules

_PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "commands.md": commands.page,
    "measured.md": plots.page,
    "options.md": options.page,
    "rules.md": rules.page,
}


def write_pages(folder: Path) -> None:
    """Write the generated pages and plots into a folder; unchanged ones are not touched."""
    folder.mkdir(exist_ok=True)
    for name, make in _PAGES.items():
        _write(folder / name, make())
    for name, drawn in plots.plots():
        _write(folder / name, drawn)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")
