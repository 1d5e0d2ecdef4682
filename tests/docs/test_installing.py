"""Pages that name ``pip install changewire`` say how to install it while it is not published."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docs.making import installing
from tests.docs.pages import ROOT

NAMED = {
    "docs/arrow.md",
    "docs/cli.md",
    "docs/tutorial-rows.md",
    "docs/tutorial/first-table.md",
}


def test_the_note_of_each_page_is_current() -> None:
    """Every page whose first command names changewire has the note, and a link to the page."""
    assert not list(installing.differences()), "python -m docs.making"
    found = installing.pages()
    assert {path.relative_to(ROOT).as_posix() for path in found} >= NAMED
    for path in found:
        text = path.read_text(encoding="utf-8")
        note = text.partition("<!-- installing -->")[2].partition("<!-- /installing -->")[0]
        command = installing.FIRST.search(text)
        assert command is not None
        assert command.start() < text.index("<!-- installing -->") < command.start() + 2000
        assert 'pip install "./changewire[cli]"' in note
        (link,) = re.findall(r"\[Installing\]\((.*?)\)", note)
        assert (path.parent / link).resolve() == ROOT / installing.SOURCE


def copy(folder: Path, text: str) -> Path:
    """Return a page of a copy of the documentation, in which nothing else is."""
    (folder / "docs" / "how-to").mkdir(parents=True)
    shutil.copy(ROOT / installing.SOURCE, folder / installing.SOURCE)
    page = folder / "docs" / "how-to" / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def test_a_page_without_its_note_is_named(tmp_path: Path) -> None:
    """A new page is reported, and gets the note behind the block that holds the command."""
    page = copy(tmp_path, "# A\n\n```sh\npip install -q changewire\n\ntrue\n```\n\nMore.\n")
    (difference,) = installing.differences(tmp_path)
    assert difference.startswith("docs/how-to/page.md: ")
    installing.write(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(
        "# A\n\n```sh\npip install -q changewire\n\ntrue\n```\n\n<!-- installing"
    )
    assert text.endswith("See [Installing](../installing.md).\n<!-- /installing -->\n\nMore.\n")
    assert not list(installing.differences(tmp_path))


def test_without_its_text_all_notes_go(tmp_path: Path) -> None:
    """Once the source has no text, a page is what it was without the note."""
    text = "# A\n\nIt needs `pip install changewire`\nalone.\n\nMore.\n"
    page = copy(tmp_path, text)
    installing.write(tmp_path)
    assert page.read_text(encoding="utf-8") != text
    (tmp_path / installing.SOURCE).write_text("# Installing\n", encoding="utf-8")
    installing.write(tmp_path)
    assert page.read_text(encoding="utf-8") == text


def test_other_commands_need_no_note(tmp_path: Path) -> None:
    """Packages with other names, and the clone itself, are no such command."""
    copy(tmp_path, '`pip install nox -e ".[cli]"  # changewire` and `pip install ./changewire`\n')
    assert installing.pages(tmp_path) == []
