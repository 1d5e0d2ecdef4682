"""The pages about errors and change events say what is so, and their examples do it."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import blocks, in_sections

import changewire as cw
from changewire.report.remedies import REMEDIES

DOCS = Path(__file__).parents[3] / "docs"

PAGES = [
    "reference/errors.md",
    "concepts/change-events.md",
    "guides/python.md",
    "sources/aerospike.md",
    "sources/dataworks.md",
    "sources/lindorm.md",
]

NO_EXAMPLE = {
    "adapter-failed": "of formats of other packages, in tests/plugins",
    "internal-error": "of defects, in test_border.py",
    "invalid-time": "no installed format has a time as text",
    "other-variant": "of messages(), in tests/runtime/engines/test_messages.py",
    "pattern-mismatch": "no installed format has a pattern",
    "rule-broken": "no installed format has a rule between properties",
    "too-large": "the memory of the machine is not ours to fill",
}
"""Codes without an example, and why."""


def sections() -> dict[str, str]:
    """Return the entry of each code on the page of errors."""
    text = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))


def codes_of(example: str) -> list[str]:
    """Run an example; return the codes of the issues that it finds or that it is refused for."""
    names: dict[str, Any] = {"cw": cw}
    try:
        exec(example, names)  # noqa: S102 - our own text
    except cw.CodecError as error:
        return [issue.code for issue in error.issues]
    return [issue.code for issue in names.get("issues", ())]


def test_every_code_has_its_entry() -> None:
    """The page has one entry for each code, in the order of the alphabet, and no other."""
    assert list(sections()) == sorted(cw.CODES)


@pytest.mark.parametrize("code", sorted(cw.CODES))
def test_entries_have_cause_example_and_cure(code: str) -> None:
    """An entry says what happened, shows a message that gives the code, and what to do."""
    before, *rest = re.split(r"```python\n.*?```", sections()[code], flags=re.DOTALL)
    assert len(before.strip()) > 20
    if code in NO_EXAMPLE:
        assert not rest
        return
    (after,) = rest
    assert len(after.strip()) > 20
    (example,) = re.findall(r"```python\n(.*?)```", sections()[code], re.DOTALL)
    found = codes_of(example)
    assert found
    assert found[0] == code


@pytest.mark.parametrize("code", sorted(cw.CODES))
def test_reports_say_what_the_page_says(code: str) -> None:
    """What a report says to do about a code stands in its entry, word for word."""
    words = re.sub(r"```python\n.*?```", "", sections()[code], flags=re.DOTALL).replace("`", "")
    assert REMEDIES[code] in " ".join(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", words).split())


@pytest.mark.parametrize("page", PAGES)
def test_pages_do_what_they_say(page: str) -> None:
    """The examples that assert something run, one after the other."""
    found = blocks(f"docs/{page}")
    if page == "guides/python.md":
        named = ("Decode, validate, encode", "Convert between Aerospike formats")
        found = [block.code for block in in_sections(f"docs/{page}", *named)]
    assert found
    if page == "reference/errors.md":
        found = found[: -len(sections()) + len(NO_EXAMPLE)]
    names: dict[str, Any] = {}
    for block in found:
        exec(block, names)  # noqa: S102 - our own text
