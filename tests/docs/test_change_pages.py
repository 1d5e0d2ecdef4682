"""The pages that show a change for each kind of message are true, and lead on."""

import os
import re

import pytest
from tests.docs.change_pages import COMMAND, page
from tests.runtime.codec.formats import FORMATS
from tests.runtime.codec.test_documents import DOCS
from tests.variants import variants

PAGES = DOCS / "changes"
UPDATE = COMMAND.partition("=")[0]


@pytest.mark.parametrize("name", FORMATS)
def test_a_page_shows_the_change_of_each_kind_of_message(name: str) -> None:
    """The page holds what the golden messages become today."""
    path = PAGES / f"{FORMATS[name].folder}.md"
    if os.environ.get(UPDATE):
        PAGES.mkdir(exist_ok=True)
        path.write_text(page(name), encoding="utf-8", newline="\n")
    text = path.read_text(encoding="utf-8")
    assert text == page(name), COMMAND
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == list(variants(name))


def test_there_is_a_page_for_each_format_and_no_other() -> None:
    """The page of a format that is gone goes too."""
    assert {path.stem for path in PAGES.iterdir()} == {form.folder for form in FORMATS.values()}


@pytest.mark.parametrize("name", FORMATS)
def test_the_pages_of_a_format_lead_to_each_other(name: str) -> None:
    """From the reference one comes to the changes, from there back and to the rules."""
    folder = FORMATS[name].folder
    reference = (DOCS / "formats" / f"{folder}.md").read_text(encoding="utf-8")
    assert f"](../changes/{folder}.md)" in reference
    for link in re.findall(r"\]\(([^)#]+)", page(name)):
        assert (PAGES / link).exists()
