"""Plans are interpreted in all tests of merges."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def _interpreted(interpreted: None) -> None:
    """Let Spark compile no plans."""
