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


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("kafka.group.id", "", "the option kafka.group.id is empty: give it a value or leave it"),
        ("kafka.client.id", "\udcff", "the option kafka.client.id: expected UTF-8 without zero"),
        ("kafka.group.id", "\0", "the option kafka.group.id: expected UTF-8 without zero bytes"),
        ("kafka.a\udcff", "x", "the option kafka.a\\udcff: expected UTF-8 without zero bytes"),
        ("subscribe", "a\0", "the option subscribe: expected UTF-8 without zero bytes"),
    ],
)
def test_text_that_would_end_the_client_is_refused(option: str, text: str, expected: str) -> None:
    """The client ends the process for an empty group, and cannot take what is not UTF-8."""
    options = {"kafka.bootstrap.servers": "h:1", "subscribe": "t", option: text}
    with pytest.raises(cwd.KafkaOptionsError) as found:
        source_of(options)
    assert str(found.value).startswith(expected)
