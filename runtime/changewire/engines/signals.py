"""SIGINT and SIGTERM as a wish to end, which a stream fulfils after the batch that it is at."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def signalled() -> Generator[list[signal.Signals], None, None]:
    """Give a list that gets each signal that is received, instead of the usual handlers.

    In another thread than the main one, which gets no signals, the list stays empty.
    """
    received: list[signal.Signals] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def receive(number: int, _: Any) -> None:
        received.append(signal.Signals(number))

    before = {number: signal.signal(number, receive) for number in _SIGNALS}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
