"""Commands that install changewire name its clone, as long as no index has it."""

from __future__ import annotations

import re

import pytest
from tests.docs.pages import ROOT
from tests.docs.test_blocks import PAGES


@pytest.mark.parametrize("page", PAGES)
def test_commands_name_the_clone(page: str) -> None:
    """No page asks an index for a package that it does not have."""
    text = ROOT.joinpath(page).read_text(encoding="utf-8")
    assert re.findall(r'pip install (?:--?\S+ )*"?changewire\b(?!-)', text) == []
