"""A program that relays the connections of one port to another one, until it is killed."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from threading import Thread

from examples.broker import HOST


def pump(source: socket.socket, target: socket.socket) -> None:
    """Send what one side sends to the other one, until one of them ends."""
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def relay(port: int, to: int) -> None:
    """Relay all connections of a port."""
    with socket.create_server((HOST, port)) as server:
        while True:
            near, _ = server.accept()
            far = socket.create_connection((HOST, to))
            for pair in ((near, far), (far, near)):
                Thread(target=pump, args=pair, daemon=True).start()


if __name__ == "__main__":
    relay(*map(int, sys.argv[1:]))
