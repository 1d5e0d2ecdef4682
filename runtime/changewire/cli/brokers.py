"""Kafka brokers: whether they are reached, and whether clients reach those that they name."""

import logging
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Final

from changewire.cli.findings import Finding
from changewire.engines.servers import CONNECT_SECONDS, addresses_in, connection_refusal

_MOST: Final = 20
"""Brokers that are connected to; a cluster may have hundreds, and each may take its time."""

_NEEDED_FOR: Final = "--kafka"


def brokers(servers: str) -> list[Finding]:
    """Connect to bootstrap servers, ask one for the cluster's brokers, and connect to those.

    Raises:
        ValueError: One is no address: they are ``HOST:PORT,HOST:PORT``.
    """
    asked = addresses_in(servers)
    found = [_server("bootstrap server", *address) for address in asked[:_MOST]]
    if all(finding.is_lacking for finding in found):
        return found
    if find_spec("confluent_kafka") is None:
        advice = 'pip install "changewire[kafka]" to look at the brokers behind it as well'
        untold = Finding(
            name="Kafka cluster", status="untested", needed_for=_NEEDED_FOR, advice=advice
        )
        return [*found, untold]
    return [*found, *_cluster(servers, set(asked))]


def _server(kind: str, host: str, port: int, more: str = "") -> Finding:
    refusal = connection_refusal(host, port)
    advice = f"{refusal}: {more or 'correct the address, start the broker, or open the port'}"
    return Finding(
        name=f"{kind} {host}:{port}",
        status="missing" if refusal else "ok",
        needed_for=_NEEDED_FOR,
        is_required=True,
        advice=advice if refusal else "",
    )


def _cluster(servers: str, asked: set[tuple[str, int]]) -> Iterator[Finding]:
    """Yield what the cluster says of itself, and each broker that it sends its clients to."""
    from confluent_kafka import KafkaException

    try:
        metadata = _metadata(servers)
    except KafkaException as error:
        yield Finding(
            name="Kafka cluster",
            status="unfit",
            needed_for=_NEEDED_FOR,
            is_required=True,
            advice=f"{error.args[0].str()}: it wants TLS or SASL, or is no Kafka",
        )
        return
    members = sorted((b.host, b.port) for b in metadata.brokers.values())
    count = f"{len(members):,} broker{'' if len(members) == 1 else 's'}"
    yield Finding(name="Kafka cluster", found=count, needed_for=_NEEDED_FOR, is_required=True)
    advice = "the cluster sends clients there: correct its advertised.listeners, or open the port"
    for host, port in [member for member in members if member not in asked][:_MOST]:
        yield _server("broker", host, port, advice)


def _metadata(servers: str) -> Any:
    """Return the cluster's metadata; the client's own log, which names servers, goes nowhere."""
    from confluent_kafka.admin import AdminClient

    silent = logging.getLogger("changewire.doctor")
    silent.propagate = False
    silent.addHandler(logging.NullHandler())
    settings: dict[str, Any] = {"bootstrap.servers": servers, "log_level": 0}
    return AdminClient(settings, logger=silent).list_topics(timeout=CONNECT_SECONDS)
