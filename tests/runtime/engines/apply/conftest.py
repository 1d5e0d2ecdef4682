"""Plans are interpreted in all tests of merges, and who tries again does not wait."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from changewire.engines import retries


@pytest.fixture(scope="module", autouse=True)
def _interpreted(interpreted: None) -> None:
    """Let Spark compile no plans."""


@pytest.fixture(scope="module", autouse=True)
def _without_waiting() -> Iterator[None]:
    """Let what another writer came before be tried again at once."""
    with patch.object(retries, "sleep"):
        yield
