"""Troubles of the client of Kafka: which pass by themselves, and which end a stream."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from changewire.engines.kafka_options import hidden
from changewire.engines.options import Listener
from changewire.engines.stream.source import Source

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

END: Final = "_PARTITION_EOF"
LOST: Final = frozenset({"_AUTO_OFFSET_RESET", "OFFSET_OUT_OF_RANGE"})
NO_TOPIC: Final = "UNKNOWN_TOPIC_OR_PART"

_GONE: Final = "_ALL_BROKERS_DOWN"
_MISSING: Final = frozenset({NO_TOPIC, "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"})
_DENIED: Final = frozenset({"_AUTHENTICATION", "_SSL"})
_NO_GROUP: Final = "GROUP_AUTHORIZATION_FAILED"
_REFUSED: Final = frozenset({"TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED"})
_PASSING: Final = frozenset(
    {
        *("_TRANSPORT", "_RESOLVE", "_TIMED_OUT", _GONE, "LEADER_NOT_AVAILABLE"),
        *("NOT_LEADER_FOR_PARTITION", "REQUEST_TIMED_OUT", "BROKER_NOT_AVAILABLE"),
        *("REPLICA_NOT_AVAILABLE", "NETWORK_EXCEPTION", "KAFKA_STORAGE_ERROR"),
        *("FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", *_MISSING),
        _NO_GROUP,  # nothing is read by a group
    }
)

_GRACE: Final = 10.0
"""Seconds for which a topic may be missing: a broker that has just started knows few topics."""


class Troubles:
    """Takes the errors of a client, which connects again and again if no broker answers.

    Attributes:
        last: The newest error of a connection; None without one.
        ending: What ends the stream; None without such an error.
    """

    def __init__(self, source: Source, servers: str, notice: Listener | None) -> None:
        """Know of no error; `notice` gets a line if brokers do not answer, or refuse the client."""
        self.last: KafkaError | None = None
        self.ending: KafkaError | None = None
        self._source, self._servers, self._notice = source, servers, notice
        self._said = set[str]()
        self._missing: tuple[KafkaError, float] | None = None

    def __call__(self, error: KafkaError) -> None:
        """Take an error that is of no message."""
        name = error.name()
        if error.fatal() or name in _REFUSED:
            self.ending = error
        elif name in _MISSING:
            self._missing = self._missing or (error, time.monotonic())
        elif name == _GONE:
            last = self.last
            if last is not None and last.name() in _DENIED:
                why = f"the Kafka brokers refuse the client: {self.text(last)}"
                self._say(last.name(), f"{why}; waiting")
            else:
                self._say(name, f"no Kafka broker answers on {self._servers}: waiting")
        else:
            self.last = error

    def passes(self, error: KafkaError) -> bool:
        """Whether the client goes on by itself after an error of a partition, or of its group."""
        if error.name() == _NO_GROUP and self._source.group is not None:
            self._say(_NO_GROUP, f"the group of kafka.group.id gets no offsets: {self.text(error)}")
        return not error.fatal() and (error.retriable() or error.name() in _PASSING)

    def missing(self) -> KafkaError | None:
        """Return the error of a topic that has been missing for a while, once."""
        if self._missing is None or time.monotonic() - self._missing[1] < _GRACE:
            return None
        (error, _), self._missing = self._missing, None
        return error

    def over(self) -> None:
        """Take note that a broker answers."""
        self._said &= {_NO_GROUP}
        self.last = None

    def text(self, error: KafkaError) -> str:
        """Return the text of an error, without secrets."""
        return hidden(error.str(), self._source.options)

    def _say(self, name: str, line: str) -> None:
        """Say a line, unless one of the same error was said."""
        if self._notice is not None and name not in self._said:
            self._notice(line)
        self._said.add(name)
