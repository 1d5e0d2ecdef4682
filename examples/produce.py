"""Send example messages to a topic: python -m examples.produce HOST:PORT TOPIC FILES.

Each message is checked by the serializer of its format, as a service would do it: what readers of
the topic would reject is not sent, and said with every reason. The format is detected, message by
message, unless ``--format`` names it. ``--unchecked`` sends all as they are, like a producer that
knows no schema. The topic is made where it is not there; ``-`` is standard input.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from examples.clients import SECONDS, NoBrokerError, settings, wait_for_broker

from changewire import DecodeError, formats
from changewire.changes.decode_options import AUTO
from changewire.codec import codec_for
from changewire.framing import FramingError, Record, expand, read
from changewire.kafka import ChangewireSerializer, MessageRejectedError

MOST_WAITING = 10_000


def make_topic(server: str, topic: str) -> None:
    """Make a topic of one partition, unless it is there.

    Raises:
        NoBrokerError: No broker answers.
        KafkaException: It refuses.
    """
    wait_for_broker(server)
    client = AdminClient(settings(server))
    if topic not in client.list_topics(timeout=SECONDS).topics:
        for made in client.create_topics([NewTopic(topic, 1, 1)]).values():
            made.result()


def records_of(files: Iterable[str]) -> Iterator[Record]:
    """Yield the records of files.

    Raises:
        FramingError: A file cannot be read.
    """
    for path in files:
        yield from read(path)


def checked(records: Iterable[Record], format: str, say: Callable[[str], Any]) -> Iterator[Record]:
    """Yield the records that readers accept, and say of each other one what is wrong with it.

    Args:
        records: The records.
        format: Public name of their format, or ``auto``.
        say: Called with a line for each record that is rejected.
    """
    serializer = cache(ChangewireSerializer)
    for record in records:
        try:
            if record.value is not None:  # one without a value is of every format
                name = codec_for(record.value).format if format == AUTO else format
                serializer(name)(record.value)
        except (DecodeError, MessageRejectedError) as error:  # noqa: PERF203 - each has its verdict
            say(f"{record.position.path}, record {record.position.number}: {error}")
        else:
            yield record


def send(server: str, topic: str, records: Iterable[Record]) -> tuple[int, int]:
    """Send records, and wait until the broker has them.

    Returns:
        How many the broker has confirmed, and how many it refused or has not confirmed.
    """
    producer = Producer(settings(server))
    given = 0
    failed: Counter[bool] = Counter()

    def delivered(error: KafkaError | None, _: Message) -> None:
        failed[error is not None] += 1

    for record in records:
        producer.produce(topic, record.value, record.key, on_delivery=delivered)
        producer.poll(1 if len(producer) > MOST_WAITING else 0)  # waits for a slower broker
        given += 1
    unsent = producer.flush(SECONDS) + failed[True]
    return given - unsent, unsent


def main() -> None:
    """Read the files, send their messages, and tell how many."""
    parser = argparse.ArgumentParser(prog="python -m examples.produce", description=__doc__)
    parser.add_argument("server", metavar="HOST:PORT")
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument("files", metavar="FILES", nargs="+")
    parser.add_argument(
        "--format",
        default=AUTO,
        choices=[AUTO, *formats()],
        help="of the messages; auto, the default, detects it",
    )
    parser.add_argument("--unchecked", action="store_true", help="send messages as they are")
    given = parser.parse_args()
    refused: list[str] = []
    try:
        records = records_of(expand(given.files))
        if not given.unchecked:
            records = checked(records, given.format, refused.append)
        make_topic(given.server, given.topic)
        sent, unsent = send(given.server, given.topic, records)
    except (KafkaException, FramingError, NoBrokerError) as error:
        sys.exit(f"nothing more is sent: {error}")
    for line in refused:
        print(line)
    print(f"{sent} messages sent to {given.topic}, {len(refused)} rejected, {unsent} unsent")
    sys.exit(1 if refused or unsent else 0)


if __name__ == "__main__":
    main()
