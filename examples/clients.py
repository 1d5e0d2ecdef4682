"""Clients of Kafka that say in one line that they wait for a broker."""

import sys
import time
from collections.abc import Callable
from typing import Any, Final

from changewire.engines.kafka_options import addresses_in, connection_refusal

SECONDS: Final = 60
"""How long a broker may take to answer."""

PAUSE: Final = 0.2


class NoBrokerError(Exception):
    """No broker answers; the text names the servers and the reason."""


def settings(server: str) -> dict[str, Any]:
    """Return settings of a client that leaves out librdkafka's log.

    While no broker answers, the log has several lines a second; `wait_for_broker` says it in one.
    """
    return {"bootstrap.servers": server, "log_level": 0}


def wait_for_broker(
    server: str, *, seconds: float = SECONDS, say: Callable[[str], object] | None = None
) -> None:
    """Wait until a bootstrap server accepts a connection; say so in one line if none does at once.

    Args:
        server: ``HOST:PORT,HOST:PORT``.
        seconds: How long to wait.
        say: Gets the line; standard error unless given.

    Raises:
        NoBrokerError: None accepts a connection, or one is no address.
    """
    end = time.monotonic() + seconds
    refusal = _refusal(server)
    if refusal:
        line = f"waiting for broker {server} ..."
        say(line) if say else print(line, file=sys.stderr, flush=True)
    while refusal:
        if time.monotonic() > end:
            raise NoBrokerError(f"no broker answers at {server}: {refusal}")
        time.sleep(PAUSE)
        refusal = _refusal(server)


def _refusal(server: str) -> str:
    """Return why the last of the servers accepts no connection; empty where one does."""
    try:
        addresses = addresses_in(server)
    except ValueError as error:
        raise NoBrokerError(str(error)) from None
    refusals = [connection_refusal(host, port) for host, port in addresses]
    return refusals[-1] if refusals and all(refusals) else ""
