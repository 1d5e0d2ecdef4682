"""Options of Spark's Kafka source, checked before anything runs.

The names are those of the Structured Streaming + Kafka Integration Guide: options of the source as
they are, options of the Kafka client behind ``kafka.``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from changewire.engines.options import KafkaOptions
from changewire.engines.servers import addresses_in
from changewire.engines.spark.kafka.errors import KafkaOptionsError

SERVERS: Final = "kafka.bootstrap.servers"
TOPICS: Final = ("subscribe", "subscribePattern", "assign")
"""Options of which one says what to read."""

_DEFAULTS: Final[Mapping[str, str]] = {
    "includeHeaders": "true",
    # Spark asks only for records that are there. When a task has read the last one, the client has
    # asked for the next already, and all else waits until the broker has answered that: by the
    # client's own default half a second for each partition, in each batch.
    "kafka.fetch.max.wait.ms": "10",
}
"""Options that have other defaults than Spark's."""


def checked(options: KafkaOptions) -> dict[str, str]:
    """Return options as text, with `_DEFAULTS` where they say nothing else.

    Raises:
        KafkaOptionsError: Not exactly one of `TOPICS`, or no server, or one that is no address.
    """
    texts = {name: _text(value) for name, value in options.items()}
    topics = [name for name in TOPICS if option(texts, name)]
    if len(topics) != 1:
        found = ", not both " + " and ".join(topics) if topics else ""
        raise KafkaOptionsError(
            f"name what to read by one of the options {', '.join(TOPICS)}{found}"
        )
    if not option(texts, SERVERS):
        raise KafkaOptionsError(f"name the brokers by the option {SERVERS}, as HOST:PORT,HOST:PORT")
    addresses(texts)
    given = {name.lower() for name, text in texts.items() if text.strip()}
    return {
        **texts,
        **{name: text for name, text in _DEFAULTS.items() if name.lower() not in given},
    }


def option(options: Mapping[str, str], name: str) -> str:
    """Return the value of an option, by its name in any case; empty if it is not given."""
    return next((v for key, v in options.items() if key.lower() == name.lower()), "").strip()


def addresses(options: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return host and port of each bootstrap server.

    Raises:
        KafkaOptionsError: One is not ``HOST:PORT``.
    """
    try:
        return addresses_in(option(options, SERVERS))
    except ValueError as error:
        raise KafkaOptionsError(f"{SERVERS}: {error}") from None


def address(options: KafkaOptions) -> str:
    """Return what is read, in one word: ``kafka://HOST:PORT,HOST:PORT/TOPICS``."""
    texts = checked(options)
    topics = next(filter(None, (option(texts, name) for name in TOPICS)))
    return f"kafka://{option(texts, SERVERS)}/{topics}"


def _text(value: str | float | bool) -> str:  # noqa: FBT001 - the value of an option
    return str(value).lower() if isinstance(value, bool) else str(value)
