"""What is read of Kafka, and from where: the options of the source, as this engine takes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from changewire.engines.kafka_options import (
    CLIENT,
    TOPICS,
    KafkaOptionsError,
    check_client,
    checked,
    option,
)
from changewire.engines.options import KafkaOptions

_STARTS: Final = "startingOffsets"
_LOSS: Final = "failOnDataLoss"
_MOST: Final = "maxOffsetsPerTrigger"
_OWN: Final = (*TOPICS, _STARTS, _LOSS, _MOST)

_SET_HERE: Final = (
    *("enable.auto.commit", "enable.auto.offset.store", "auto.offset.reset"),
    *("enable.partition.eof", "group.instance.id", "partition.assignment.strategy"),
)
"""Options of the client that say how offsets are kept, and that this engine sets."""

EARLIEST: Final = -2
LATEST: Final = -1
"""Offsets that name an end of a partition, as in Spark's JSON."""

_ENDS: Final = {"earliest": EARLIEST, "latest": LATEST}
_DEFAULTS: Final = {"client.id": "changewire", "group.id": "changewire", "log_level": "0"}


class Place(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}"


@dataclass(frozen=True)
class Source:
    """Topics, and how they are read.

    Attributes:
        options: All options, as they were given.
        client: Options of the client, by the names of librdkafka.
        names: Names of topics.
        pattern: Pattern of the names of topics; None if they are named.
        places: Partitions that were asked for; None for all of the topics.
        start: Offset at which partitions begin that are not listed in `starts`.
        starts: Offset at which some partitions begin.
        fails_on_loss: Whether records that were deleted before they were read end the stream.
        most: Records of a batch at most; None for the default.
        group: Group that sees the offsets of the log; None without one.
    """

    options: Mapping[str, str]
    client: Mapping[str, str]
    names: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    places: frozenset[Place] | None = None
    start: int = EARLIEST
    starts: Mapping[Place, int] = field(default_factory=dict)
    fails_on_loss: bool = True
    most: int | None = None
    group: str | None = None

    def has(self, place: Place) -> bool:
        """Whether a partition is read."""
        return self.places is None or place in self.places


def source_of(options: KafkaOptions) -> Source:
    """Return the source that options name; a `KafkaOptionsError` names one that is not valid."""
    texts = checked(options, defaults={})
    _check_names(texts)
    client = {name[len(CLIENT) :]: text for name, text in texts.items() if name.startswith(CLIENT)}
    start, starts = _starts(option(texts, _STARTS))
    names, pattern, places = _topics(texts)
    return Source(
        options=texts,
        client={**_DEFAULTS, **client},
        names=names,
        pattern=pattern,
        places=places,
        start=start,
        starts=starts,
        fails_on_loss=_truth(_LOSS, option(texts, _LOSS)),
        most=_number(_MOST, option(texts, _MOST)),
        group=client.get("group.id"),
    )


def _check_names(texts: Mapping[str, str]) -> None:
    known = {name.lower() for name in _OWN}
    for name in texts:
        if name.startswith(CLIENT):
            if name[len(CLIENT) :] in _SET_HERE:
                raise KafkaOptionsError(f"the option {name} is set by changewire; leave it out")
            check_client(name, texts[name])
        elif name.lower() not in known:
            raise KafkaOptionsError(
                f"without Spark there is no option {name}; there are {', '.join(_OWN)}, and "
                f"options of librdkafka behind {CLIENT}"
            )


def _topics(
    texts: Mapping[str, str],
) -> tuple[tuple[str, ...], re.Pattern[str] | None, frozenset[Place] | None]:
    """Return names of topics, a pattern of names, and partitions."""
    subscribe, pattern, assign = (option(texts, name) for name in TOPICS)
    if subscribe:
        names = tuple(filter(None, map(str.strip, subscribe.split(","))))
        if not names:
            raise KafkaOptionsError(f"subscribe: expected names of topics, found {subscribe!r}")
        return names, None, None
    if pattern:
        try:
            return (), re.compile(pattern), None
        except re.error as error:
            raise KafkaOptionsError(f"subscribePattern: {error}") from None
    found = _json("assign", assign, dict[str, list[int]])
    if not found or "" in found or not all(found.values()):
        raise KafkaOptionsError(
            f'assign: expected topics with partitions, as in {{"users": [0, 1]}}, found {assign}'
        )
    places = frozenset(Place(topic, number) for topic, all_ in found.items() for number in all_)
    return tuple(found), None, places


def _starts(text: str) -> tuple[int, dict[Place, int]]:
    """Return where partitions begin, and where some do that are listed."""
    if not text or text.lower() in _ENDS:
        return _ENDS[text.lower() or "earliest"], {}
    found = _json(_STARTS, text, dict[str, dict[int, int]])
    return EARLIEST, {
        Place(topic, number): at for topic, each in found.items() for number, at in each.items()
    }


def _json(name: str, text: str, kind: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError as error:
        raise KafkaOptionsError(f"{name}: {error}") from None


def _truth(name: str, text: str) -> bool:
    if text.lower() not in {"", "true", "false"}:
        raise KafkaOptionsError(f"{name}: expected true or false, found {text!r}")
    return text.lower() != "false"


def _number(name: str, text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise KafkaOptionsError(f"{name}: expected a number from 1, found {text!r}")
    return int(text)
