"""Each sentence on security names the tests that hold it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = ROOT.joinpath("docs", "operate", "security.md").read_text(encoding="utf-8")
NOT_PROMISED = "## What is not promised"
SENTENCES = re.findall(
    r"^- (.+?)(?=\n- |\n\n)", TEXT.partition(NOT_PROMISED)[0], re.MULTILINE | re.DOTALL
)
NAMES = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence[:40])
def test_a_sentence_ends_with_its_tests(sentence: str) -> None:
    """What is said without a test to hold it is not said."""
    assert re.search(r"\.\s+(`tests/\S+::\w+`(,\s+)?)+$", sentence)


@pytest.mark.parametrize(("path", "name"), NAMES, ids="::".join)
def test_the_tests_are_there(path: str, name: str) -> None:
    """A test that is renamed or removed is noticed here."""
    tree = ast.parse(ROOT.joinpath(path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_all_of_the_page_is_looked_at() -> None:
    """Every item of a list is one of the sentences, and none of the section without tests is."""
    held, _, rest = TEXT.partition(NOT_PROMISED)
    assert len(SENTENCES) == held.count("\n- ") > 20
    assert "::" not in rest
    assert rest
