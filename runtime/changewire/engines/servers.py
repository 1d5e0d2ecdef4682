"""Addresses of Kafka brokers, and whether something listens there."""

from __future__ import annotations

import re
import socket
from typing import Final

CONNECT_SECONDS: Final = 5
"""How long a server may take to accept a connection."""

# As the Kafka client reads it (ClientUtils.parseAndValidateAddresses).
_ADDRESS: Final = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)]?:([0-9]+)")
_PORTS: Final = 65536


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


def connection_refusal(host: str, port: int) -> str:
    """Return why a server accepts no connection; empty if it does."""
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except (OSError, UnicodeError) as error:  # the latter: a part of the name is too long for DNS
        return getattr(error, "strerror", None) or str(error)
    return ""
