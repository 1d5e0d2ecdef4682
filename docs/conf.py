"""How Sphinx makes the site; ``nox -s docs`` runs it, with warnings as errors."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for docs/making

project = "changewire"
html_title = project
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "**/__pycache__", "changes"]

html_theme = "furo"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_favicon = "style/icon.svg"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False

smartquotes_action = "qe"  # no dashes: options of commands begin with two hyphens

myst_heading_anchors = 4

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_mock_imports = ["deltalake", "py4j", "pyspark"]  # large; none of our names needs them
autodoc_typehints_format = "short"
default_role = "py:obj"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # else attributes are described twice: where they stand, and as members
napoleon_use_rtype = False

OUTSIDE: Final = {"](../schemas/README.md": "](/contributing/dialect.md"}
"""Links to files outside this folder, and the pages that include those files."""


def add_changes(app: Any, name: str, source: list[str]) -> None:
    """Add to the page of a format the page that shows the changes of its messages."""
    file = Path(app.srcdir, "changes", f"{Path(name).name}.md")
    if name.startswith("formats/") and file.exists():
        _, _, text = file.read_text(encoding="utf-8").partition("-->\n\n")
        text = re.sub(r"^## ", "### ", text, flags=re.MULTILINE)
        text = text.replace(f"](../{name}.md)", "](#document-and-reality)")
        link = f"](../changes/{file.name})"
        source[0] = f"{source[0].replace(link, '](#changes)')}\n## Changes\n\n{text}"


def lead_inside(_: Any, __: str, source: list[str]) -> None:
    """Turn links to files that a page includes into links to the page."""
    for link, page in OUTSIDE.items():
        source[0] = source[0].replace(link, page)


def leave_room(app: Any, name: str, source: list[str]) -> None:
    """Drop patterns of an index that match no page yet: Sphinx would warn about them."""
    here = Path(app.srcdir, name).parent
    for pattern in re.findall(r"^[\w./-]+\*$", source[0], re.MULTILINE):
        if name.endswith("index") and not any(here.glob(f"{pattern}.md")):
            source[0] = source[0].replace(f"\n{pattern}\n", "\n")


def name_language(_: Any, name: str, __: str, context: dict[str, Any], ___: Any) -> None:
    """Say that a page is in Chinese, for which browsers choose fonts and screen readers a voice."""
    if name.startswith("zh/"):
        context["language"] = "zh-CN"


def read_fences(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
    """Turn the fenced code of a docstring, which editors show, into a directive of Sphinx."""
    is_code = False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            is_code = not is_code
            lines[number] = f".. code-block:: {line[3:]}" if is_code else ""
        elif is_code:
            lines[number] = f"   {line}"
    text = re.sub(r"(?m)^(\.\. code-block:: \w+)$", r"\1\n", "\n".join(lines))
    lines[:] = text.split("\n")


def setup(app: Any) -> None:
    """Write the pages and plots that are generated from code and figures; follow links outside."""
    from docs.making.pages import write_pages

    write_pages(Path(app.srcdir, "made"))
    app.connect("source-read", add_changes)
    app.connect("source-read", lead_inside)
    app.connect("source-read", leave_room)
    app.connect("html-page-context", name_language)
    app.connect("autodoc-process-docstring", read_fences)
