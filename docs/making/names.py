"""Lists of public names, with the first sentence of each docstring, on the pages of Python."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from docs.making.markdown import cell, table

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {
    "changewire": "python",
    "changewire.spark": "python",
    "changewire.kafka": "python",
}
"""Modules, and the pages in ``docs/reference/`` that list their names."""

_LIST: Final = re.compile(r"(<!-- names (\S+) -->\n).*?(?=<!-- /names -->)", re.DOTALL)


def rows(module: str) -> Iterator[tuple[str, str]]:
    """Yield each function and class of a module, with its first sentence."""
    found = import_module(module)
    for name in found.__all__:
        value = getattr(found, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            first = (inspect.getdoc(value) or "").partition("\n\n")[0]
            yield f"`{name}`", cell(re.sub(r"`+", "", " ".join(first.split())))


def renewed(page: Path) -> str:
    """Return the text of a page with its lists, each of the module that its mark names."""
    listed = {name: table(("name", "in one sentence"), rows(name)) for name in PAGES}
    return _LIST.sub(lambda one: one[1] + listed[one[2]], page.read_text(encoding="utf-8"))


def write() -> None:
    """Write the lists again."""
    for name in sorted({*PAGES.values()}):
        page = ROOT / "reference" / f"{name}.md"
        page.write_text(renewed(page), encoding="utf-8", newline="\n")


def differences() -> Iterator[str]:
    """Yield a line for each page whose list is not current."""
    for name in sorted({*PAGES.values()}):
        page = ROOT / "reference" / f"{name}.md"
        if page.read_text(encoding="utf-8") != renewed(page):
            yield f"docs/reference/{name}.md: the list of names is not current"
