"""Kafka topics as inputs of commands that look at messages; they are read without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import typer

from changewire.cli.options import text_option
from changewire.engines.kafka_options import CLIENT, KafkaOptionsError, check_client, hidden
from changewire.extras import install
from changewire.framing import FramingError, Position, Record

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

_SECONDS: Final = 10.0
"""How long a broker may take to answer."""

Servers: TypeAlias = Annotated[
    str | None,
    text_option(
        "--kafka", metavar="HOST:PORT", help="Read Kafka topics, from these bootstrap servers."
    ),
]
Subscribe: TypeAlias = Annotated[
    str | None, text_option("--subscribe", metavar="TOPIC", help="Topics to read, comma-separated.")
]
Options: TypeAlias = Annotated[
    list[str] | None,
    text_option(
        "--option",
        metavar="NAME=VALUE",
        help="Option of the Kafka client, such as kafka.security.protocol; repeatable.",
    ),
]
Limit: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--limit", metavar="N", min=1, help="Stop after so many records.", show_default=False
    ),
]


class Topics(NamedTuple):
    """Topics to read.

    Attributes:
        servers: Bootstrap servers.
        names: The topics.
        options: Options of the client.
    """

    servers: str
    names: Sequence[str]
    options: dict[str, str]


def topics_of(
    inputs: Sequence[str] | None,
    servers: str | None,
    subscribe: str | None,
    options: Sequence[str] | None,
) -> Topics | None:
    """Return the topics that a command reads; None if it reads files.

    Raises:
        typer.BadParameter: The options do not go together.
    """
    if servers is None:
        if subscribe or options:
            raise typer.BadParameter("--subscribe and --option need --kafka HOST:PORT")
        return None
    if inputs:
        raise typer.BadParameter("give files or --kafka, not both")
    if not subscribe:
        raise typer.BadParameter("--kafka needs --subscribe TOPIC")
    found = pairs(options)
    try:
        for name, value in found.items():
            check_client(name, value)
    except KafkaOptionsError as error:
        raise typer.BadParameter(str(error)) from None
    return Topics(servers, subscribe.split(","), found)


def pairs(options: Sequence[str] | None) -> dict[str, str]:
    """Return options by name.

    Raises:
        typer.BadParameter: One has no value.
    """
    found = {}
    for option in options or ():
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise typer.BadParameter("--option: expected NAME=VALUE")
        found[name] = value
    return found


def read_topics(topics: Topics) -> Iterator[Record]:
    """Yield the records that topics have now, partition by partition as they arrive.

    Nothing is committed: the group of the client has no offsets.

    Raises:
        typer.BadParameter: The client refuses an option.
        FramingError: No broker answers, or a topic cannot be read.
        ImportError: confluent-kafka is not installed.
    """
    try:
        from confluent_kafka import KafkaError, KafkaException
    except ImportError as error:
        raise ImportError(f"--kafka needs confluent-kafka: {install('kafka')}") from error
    consumer = _consumer(topics)
    try:
        waiting = _assigned(consumer, topics)
        while waiting:
            message = consumer.poll(_SECONDS)
            if message is None:
                raise _failed(topics, f"no answer for {_SECONDS:.0f} s")
            fault = message.error()
            if fault is None:
                yield _record(message)
            elif fault.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its name
                waiting.discard((message.topic(), message.partition()))
            else:
                raise _failed(topics, fault.str())
    except KafkaException as error:
        raise _failed(topics, error.args[0].str()) from None
    finally:
        consumer.close()


def _consumer(topics: Topics) -> Consumer:
    from confluent_kafka import Consumer, KafkaException

    settings = {
        "bootstrap.servers": topics.servers,
        "group.id": "changewire",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "log_level": 0,
        **{name.removeprefix(CLIENT): value for name, value in topics.options.items()},
    }
    try:
        return Consumer(settings)
    except KafkaException as error:
        raise typer.BadParameter(hidden(error.args[0].str(), topics.options)) from None


def _assigned(consumer: Consumer, topics: Topics) -> set[tuple[Any, Any]]:
    """Let a client read all partitions of topics from their beginning, and return these."""
    from confluent_kafka import OFFSET_BEGINNING, TopicPartition

    found = []
    for name in topics.names:
        topic = consumer.list_topics(name, timeout=_SECONDS).topics[name]
        if topic.error is not None:
            raise _failed(topics, f"topic {name}: {topic.error.str()}")
        found += [TopicPartition(name, number, OFFSET_BEGINNING) for number in topic.partitions]
    consumer.assign(found)
    return {(one.topic, one.partition) for one in found}


def _failed(topics: Topics, reason: str) -> FramingError:
    return FramingError(topics.servers, None, reason)


def _record(message: Message) -> Record:
    headers: Any = tuple(message.headers() or ())
    _, timestamp = message.timestamp()
    position = Position(message.topic(), message.partition(), message.offset(), timestamp)
    return Record(message.key(), message.value(), position, headers)
