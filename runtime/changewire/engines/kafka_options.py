"""Options of a Kafka source, checked before anything runs, and errors that hide their values.

The names are those of Spark's Structured Streaming + Kafka Integration Guide, in both engines:
options of the source as they are, options of the Kafka client behind ``kafka.``.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from typing import Final

from changewire.codec.issues import is_utf8, printable
from changewire.engines.options import KafkaOptions

SERVERS: Final = "kafka.bootstrap.servers"
TOPICS: Final = ("subscribe", "subscribePattern", "assign")
"""Options of which one says what to read."""

CLIENT: Final = "kafka."
"""Begins options of the client."""

_NO_TEXT: Final = ("on_commit", "logger", "default.topic.config")
"""Options of confluent-kafka whose values are Python objects, like those of its callbacks."""

_DEFAULTS: Final[Mapping[str, str]] = {
    "includeHeaders": "true",
    # Spark asks only for records that are there. When a task has read the last one, the client has
    # asked for the next already, and all else waits until the broker has answered that: by the
    # client's own default half a second for each partition, in each batch.
    "kafka.fetch.max.wait.ms": "10",
}
"""Options of Spark's source that have other defaults than its own."""

_SHOWN: Final = re.compile(
    r"assign|endingoffsets|startingoffsets|subscribe|subscribepattern|kafka\.bootstrap\.servers"
    r"|.*\.(?:location|mechanism|ms|protocol)"
)
"""Names of options whose values may be in an error; of any other the value is hidden."""

HIDDEN: Final = "[hidden]"
"""Replaces a value, as in Kafka's own logs."""

_PARTS: Final = re.compile(r"""["']([^"']+)["']|=\s*([^\s;"']+)""")
_SHORT: Final = 4
_PLAIN: Final = frozenset({"true", "false"})
_REASON_LENGTH: Final = 600
_TRACE: Final = ("at ", "... ", "Driver stacktrace:", "Full stacktrace", "Suppressed: ")
"""Begins lines of a Java trace that say nothing about the reason."""

CONNECT_SECONDS: Final = 5
"""How long a server may take to accept a connection."""

# As the Kafka client reads it (ClientUtils.parseAndValidateAddresses).
_ADDRESS: Final = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)]?:([0-9]+)")
_PORTS: Final = 65536


class KafkaSourceError(Exception):
    """Topics cannot be read; the text says why and what to do, and has no secret."""


class KafkaOptionsError(KafkaSourceError, ValueError):
    """Options do not say what to read, or where."""


def checked(options: KafkaOptions, defaults: Mapping[str, str] = _DEFAULTS) -> dict[str, str]:
    """Return options as text, with defaults; servers and one of `TOPICS` must be given."""
    texts = {n: str(v).lower() if isinstance(v, bool) else str(v) for n, v in options.items()}
    for name, text in texts.items():
        if not is_utf8(f"{name}{text}"):
            is_wrong = "expected UTF-8 without zero bytes"
            raise KafkaOptionsError(f"the option {printable(name)}: {is_wrong}")
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
    return {**texts, **{n: text for n, text in defaults.items() if n.lower() not in given}}


def check_client(name: str, text: str) -> None:
    """Check an option of confluent-kafka, which ends the process for an empty group."""
    of_client = name.removeprefix(CLIENT)
    if of_client in _NO_TEXT or of_client.endswith("_cb"):
        raise KafkaOptionsError(f"the option {name} takes a Python object, not text")
    if not text:
        raise KafkaOptionsError(f"the option {name} is empty: give it a value or leave it out")


def option(options: Mapping[str, str], name: str) -> str:
    """Return the value of an option, by its name in any case; empty if it is not given."""
    return next((v for key, v in options.items() if key.lower() == name.lower()), "").strip()


def addresses(options: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return host and port of each bootstrap server."""
    try:
        return addresses_in(option(options, SERVERS))
    except ValueError as error:
        raise KafkaOptionsError(f"{SERVERS}: {error}") from None


def addresses_in(servers: str) -> list[tuple[str, int]]:
    """Return host and port of each server in ``HOST:PORT,HOST:PORT``."""
    found: list[tuple[str, int]] = []
    for server in filter(None, map(str.strip, servers.split(","))):
        match = _ADDRESS.fullmatch(server)
        if match is None or not 0 < int(match[2]) < _PORTS:
            text = f"expected HOST:PORT, found {server!r}"
            raise ValueError(text)
        found.append((match[1], int(match[2])))
    return found


def check_answers(options: Mapping[str, str]) -> None:
    """Check that one of the bootstrap servers accepts a connection."""
    refusals = []
    for host, port in addresses(options):
        refusal = connection_refusal(host, port)
        if not refusal:
            return
        refusals.append(f"{host}:{port} ({refusal})")
    raise KafkaSourceError(f"no Kafka broker answers: {', '.join(refusals)}")


def connection_refusal(host: str, port: int) -> str:
    """Return why a server accepts no connection; empty if it does."""
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except (OSError, UnicodeError) as error:  # the latter: a part of the name is too long for DNS
        return getattr(error, "strerror", None) or str(error)
    return ""


def address(options: KafkaOptions) -> str:
    """Return what is read, in one word: ``kafka://HOST:PORT,HOST:PORT/TOPICS``."""
    texts = checked(options)
    topics = next(filter(None, (option(texts, name) for name in TOPICS)))
    return f"kafka://{option(texts, SERVERS)}/{topics}"


def hidden(text: str, options: Mapping[str, str]) -> str:
    """Return a text without the values of options that may be secret.

    A value may contain several secrets, as ``kafka.sasl.jaas.config`` does, or be a key of many
    lines, so each line, and what is quoted or behind ``=``, is hidden by itself too. Values of
    under 4 characters are left: they are in many words, and no secret is so short.
    """
    values = {value for name, value in options.items() if not _SHOWN.fullmatch(name.lower())}
    lines = {line.strip() for value in values for line in value.splitlines()}
    parts = {part for value in values for found in _PARTS.findall(value) for part in found}
    for value in sorted((values | lines | parts) - _PLAIN, key=len, reverse=True):
        if len(value) >= _SHORT:
            text = text.replace(value, HIDDEN)
    return text


def reason(error: object, options: Mapping[str, str]) -> str:
    """Return the first lines of what Spark says, on one line, without secrets."""
    lines = [line.strip() for line in hidden(str(error), options).splitlines()]
    return " ".join(line for line in lines if line and not line.startswith(_TRACE))[:_REASON_LENGTH]
