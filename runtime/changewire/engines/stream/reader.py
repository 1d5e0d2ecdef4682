"""Messages of the partitions of topics, by the client of Kafka; it keeps no offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from changewire.engines.errors import StreamError
from changewire.engines.kafka_options import (
    KafkaOptionsError,
    KafkaSourceError,
    addresses,
    check_answers,
)
from changewire.engines.options import Listener
from changewire.engines.stream.source import Place, Source
from changewire.engines.stream.troubles import END, LOST, NO_TOPIC, Troubles
from changewire.extras import install

if TYPE_CHECKING:
    from confluent_kafka import Message

_SECONDS: Final = 10.0
"""How long a broker may take to answer a question."""

_AT_ONCE: Final = 200
"""Messages that are taken from the client at once, each of which may be large."""

_POLL: Final = 0.1
"""Seconds that a read waits for messages."""

_INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Kafka's internal topics, which no pattern matches, as in Spark."""

_SET: Final[Mapping[str, Any]] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    # An offset that a partition no longer has is an error, and not silently another offset.
    "auto.offset.reset": "error",
}


class Bounds(NamedTuple):
    """The oldest offset of a partition, and the one that its next record will have."""

    oldest: int
    end: int


class Found(NamedTuple):
    """What a read found.

    Attributes:
        messages: The messages.
        ends: Offsets up to which partitions were read, which have no more records now.
        lost: Partitions that do not have the offset that was asked for.
    """

    messages: list[Message]
    ends: dict[Place, int]
    lost: set[Place]


class TopicReader:
    """Reads partitions that are assigned to it, and no others.

    If no broker answers, the client connects again and again; a read finds nothing meanwhile.

    Attributes:
        gone: Assigned partitions that do not exist any more.
    """

    def __init__(self, source: Source, notice: Listener | None = None) -> None:
        """Connect to a broker; `notice` gets a line when none answers any more."""
        try:
            from confluent_kafka import Consumer, KafkaException, TopicPartition
        except ImportError as error:
            raise ImportError(
                f"reading Kafka without Spark needs confluent-kafka: {install('kafka')}"
            ) from error
        servers = addresses(source.options)
        self._source, self._servers = source, ", ".join(f"{host}:{port}" for host, port in servers)
        self._troubles = Troubles(source, self._servers, notice)
        self._raised, self._at = KafkaException, TopicPartition
        self._assigned, self._ends = frozenset[Place](), dict[Place, int]()
        self.gone: frozenset[Place] = frozenset()
        settings = {**source.client, **_SET, "error_cb": self._troubles}
        try:
            self._client = Consumer(settings)
        except KafkaException as error:
            raise KafkaOptionsError(self._troubles.text(error.args[0])) from None

    def close(self) -> None:
        """Leave the brokers."""
        self._client.close()

    def look(self) -> list[Place]:
        """Return the partitions that there are; for a start, so a topic must exist."""
        check_answers(self._source.options)
        try:
            found = self._listed()
        except self._raised as error:
            self._client.poll(0)  # gives `Troubles` what the client knows, such as a wrong password
            cause = self._troubles.text(self._troubles.last or error.args[0])
            raise KafkaSourceError(
                f"the topics on {self._servers} cannot be read: {cause}"
            ) from None
        missing = sorted(name for name in self._source.names if found.get(name) is None)
        if missing or not found:
            named = ", ".join(missing) if missing else f"like {self._pattern}"
            raise KafkaSourceError(
                f"no topic {named} on {self._servers}: create it, or correct its name"
            )
        places = {place for each in found.values() for place in each or ()}
        if lacking := sorted((self._source.places or frozenset()) - places):
            named = ", ".join(map(str, lacking))
            raise KafkaSourceError(f"no partition {named} on {self._servers}")
        return sorted(filter(self._source.has, places))

    def look_again(self) -> list[Place]:
        """Return the partitions that there are; none if no broker answers."""
        try:
            found = self._listed()
        except self._raised:
            return []
        return sorted(place for each in found.values() for place in each or ())

    def bounds(self, place: Place) -> Bounds:
        """Return the offsets between which a partition has records."""
        try:
            # Its types leave out the None of a broker that does not answer in time.
            found: Any = self._client.get_watermark_offsets(self._at(*place), timeout=_SECONDS)
        except self._raised as error:
            raise StreamError(f"{place}: {self._troubles.text(error.args[0])}") from None
        if found is None:
            raise StreamError(f"{place}: no answer within {_SECONDS:.0f} s")
        self._ends[place] = found[1]
        return Bounds(*found)

    def end(self, place: Place) -> int:
        """Return the end of a partition, as the last fetch had it, or `bounds` before that."""
        _, end = self._client.get_watermark_offsets(self._at(*place), cached=True)
        if end >= 0:  # of a partition that is gone the client knows none
            self._ends[place] = end
        return self._ends[place]

    def assign(self, offsets: Mapping[Place, int]) -> None:
        """Read some partitions from now on, each from an offset."""
        self._assigned, self.gone = frozenset(offsets), frozenset()
        self._client.assign([self._at(*place, at) for place, at in offsets.items()])

    def pause(self, place: Place) -> None:
        """Read a partition no further."""
        self._client.pause([self._at(*place)])

    def read(self, most: int) -> Found:
        """Return the next messages; a `StreamError` says why a partition cannot be read."""
        found = Found([], {}, set())
        for message in self._client.consume(min(most, _AT_ONCE), _POLL):
            error = message.error()
            if error is None:
                found.messages.append(message)
                continue
            topic = message.topic()  # None if the error is of the group
            place = Place(topic or "", message.partition() or 0)
            if error.name() == END:
                found.ends[place] = message.offset() or 0
            elif error.name() in LOST:
                found.lost.add(place)
            elif not self._troubles.passes(error):
                text = self._troubles.text(error)
                raise StreamError(text if topic is None else f"{place}: {text}")
        if found.messages or found.ends:
            self._troubles.over()
        self._check_troubles()
        return found

    def tell(self, offsets: Mapping[Place, int]) -> None:
        """Tell a group of the user's how far the log is, for monitors of its lag."""
        if self._source.group is not None and offsets:
            found = [self._at(*place, at) for place, at in offsets.items()]
            try:
                self._client.commit(offsets=found, asynchronous=True)
            except self._raised:
                return  # nothing is read by it

    def _listed(self) -> dict[str, list[Place] | None]:
        """Return partitions by topic; None for a topic that does not exist."""
        found: dict[str, list[Place] | None] = {}
        for name in self._names():
            topic = self._client.list_topics(name, timeout=_SECONDS).topics[name]
            if topic.error is None:
                found[name] = [Place(name, number) for number in topic.partitions]
            elif topic.error.name() == NO_TOPIC:
                found[name] = None
            else:
                raise self._raised(topic.error)
        return found

    def _names(self) -> Iterable[str]:
        pattern = self._source.pattern
        if pattern is None:
            return self._source.names
        names = self._client.list_topics(timeout=_SECONDS).topics.keys() - _INTERNAL
        return sorted(filter(pattern.fullmatch, names))

    def _check_troubles(self) -> None:
        """Raise a `StreamError` if the client says of a partition that it cannot be read."""
        if self._troubles.ending is not None:
            raise StreamError(self._troubles.text(self._troubles.ending))
        if (missing := self._troubles.missing()) is None:
            return
        try:
            there = {place for each in self._listed().values() for place in each or ()}
        except self._raised:
            return
        self.gone = self._assigned - there
        if self.gone and self._source.pattern is None:
            raise StreamError(self._troubles.text(missing))

    @property
    def _pattern(self) -> str:
        return "" if self._source.pattern is None else self._source.pattern.pattern
