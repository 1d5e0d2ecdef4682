"""Errors of the client: which are reported, and which pass, without a broker."""

from __future__ import annotations

from confluent_kafka import KafkaError

from changewire.engines.stream.source import source_of
from changewire.engines.stream.troubles import Troubles

OPTIONS = {"kafka.bootstrap.servers": "h:1", "subscribe": "t", "kafka.sasl.password": "canary"}


def test_a_group_without_rights_ends_nothing() -> None:
    """Nothing is read by it; who named it learns once that it gets no offsets."""
    error = KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED, "of canary: failed")
    for group, lines in (({}, []), ({"kafka.group.id": "g"}, ["[hidden]"])):
        said: list[str] = []
        troubles = Troubles(source_of({**OPTIONS, **group}), "h:1", said.append)
        for _ in range(2):
            assert troubles.passes(error)
            troubles.over()
        expected = "the group of kafka.group.id gets no offsets: of {}: failed"
        assert said == [expected.format(line) for line in lines]


def test_a_broker_that_refuses_the_password_is_not_taken_for_none() -> None:
    """Each cause is reported once while the client waits, and again if it waits again."""
    said: list[str] = []
    troubles = Troubles(source_of(OPTIONS), "h:1", said.append)
    denied, silent, all_down = (
        KafkaError(getattr(KafkaError, name), "canary is wrong")
        for name in ("_AUTHENTICATION", "_TRANSPORT", "_ALL_BROKERS_DOWN")
    )
    for error in (silent, denied, denied, silent):
        troubles(error)
        troubles(all_down)
    unanswered = "no Kafka broker answers on h:1: waiting"
    assert said == [unanswered, "the Kafka brokers refuse the client: [hidden] is wrong; waiting"]
    troubles(denied)
    troubles.over()
    troubles(all_down)
    assert said[2:] == [unanswered]
