"""A topic of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runtime.engines.stream_local.topics import Topic


@pytest.fixture
def topic(kafka: str, tmp_path: Path) -> Topic:
    """An empty topic with two partitions."""
    return Topic(kafka, tmp_path.name, tmp_path)
