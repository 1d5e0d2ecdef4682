"""What options say of topics, without a broker."""

from __future__ import annotations

import pytest

import changewire.delta as cwd
from changewire.engines.stream.source import source_of


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("subscribe", " , ", "names of topics, found ','"),
        ("assign", "{}", 'topics with partitions, as in {"users": [0, 1]}, found {}'),
        ("assign", '{"a": [0], "b": []}', 'topics with partitions, as in {"users": [0, 1]}, found'),
        ("assign", '{"": [0]}', 'topics with partitions, as in {"users": [0, 1]}, found'),
    ],
)
def test_nothing_to_read_is_refused(option: str, text: str, expected: str) -> None:
    """Options that name no topic, or no partition of one."""
    with pytest.raises(cwd.KafkaOptionsError) as found:
        source_of({"kafka.bootstrap.servers": "h:1", option: text})
    assert str(found.value).startswith(f"{option}: expected {expected}")
