"""Pages say what to install, and commands name the clone, as long as no index has it."""

from __future__ import annotations

import re

import pytest
from tests.docs.clean import HELPERS, TESTS, requirements
from tests.docs.pages import ROOT
from tests.docs.test_blocks import PAGES, RUN_BY


@pytest.mark.parametrize("page", PAGES)
def test_commands_name_the_clone(page: str) -> None:
    """No page asks an index for a package that it does not have."""
    text = ROOT.joinpath(page).read_text(encoding="utf-8")
    assert re.findall(r'pip install (?:--?\S+ )*"?changewire\b(?!-)', text) == []


def test_every_page_that_runs_is_run_in_a_clean_environment() -> None:
    """Each page whose blocks are run has its tests, which exist, in the table of ``docs_clean``."""
    assert set(TESTS) == {page for page, _ in RUN_BY}
    assert set(HELPERS) <= set(TESTS)
    for test in (test for tests in TESTS.values() for test in tests):
        file, _, name = test.partition("::")
        code = ROOT.joinpath("tests", "docs", file).read_text(encoding="utf-8")
        assert f"def {name.partition('[')[0]}(" in code or not name


def test_what_a_page_installs_is_found() -> None:
    """Commands and notes of extras count; packages that the page itself makes do not."""
    expected: dict[str, tuple[list[str], list[str]]] = {
        "docs/start/first-table.md": (["cli", "delta"], []),
        "docs/start/own-topic.md": (["cli", "delta", "kafka", "spark"], []),
        "docs/index.md": (["cli", "delta"], []),
    }
    for page, (extras, others) in expected.items():
        found = requirements(page)
        assert (sorted(found[0]), sorted(found[1])) == (extras, others)
