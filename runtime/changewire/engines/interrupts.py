"""Ctrl-C in a command that uses Spark: the Java process that was started ends, without a word.

PySpark's own handler of SIGINT asks Spark to cancel its jobs, by a connection that may wait for an
answer already, which ends in tracebacks; and while Java starts, that handler does not exist yet.
"""

from __future__ import annotations

import io
import logging
import signal
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from subprocess import STDOUT, Popen, TimeoutExpired
from types import FrameType, ModuleType
from typing import Any, Final, TypeVar

_SECONDS: Final = 5
"""How long Java may take to remove its files."""

T = TypeVar("T")


class Interrupts:
    """A handler of SIGINT, which ends processes that this one started before it raises.

    Attributes:
        received: Whether there was an interrupt; what is raised afterwards follows from it.
        printed: File with what a process printed; None if none was started that prints to one.
    """

    def __init__(self, printed: Path | None = None) -> None:
        """Know of no process yet."""
        self.received: bool = False
        self.printed: Path | None = None
        self._file = printed
        self._processes: list[Popen[bytes]] = []

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """End the processes, and raise KeyboardInterrupt."""
        del number, frame
        self.received = True
        # Threads of PySpark log and print that their connections have ended.
        logging.disable()
        sys.stderr = io.StringIO()
        for process in self._processes:
            _end(process)
        raise KeyboardInterrupt

    def start(self, function: Callable[[], T], module: ModuleType) -> T:
        """Call what starts processes by the ``Popen`` of a module, and know of them.

        The call is made in another thread: in the main one PySpark would take over SIGINT.
        """
        popen = vars(module)["Popen"]
        ended = Future[T]()

        def known(*arguments: Any, **settings: Any) -> Popen[bytes]:
            with self._output() as streams:
                process: Popen[bytes] = popen(*arguments, **streams, **settings)
            self._processes.append(process)
            if self.received:
                _end(process)
            return process

        def call() -> None:
            try:
                ended.set_result(function())
            except BaseException as error:  # noqa: BLE001 - raised by what waits for the result
                ended.set_exception(error)

        vars(module)["Popen"] = known
        try:
            threading.Thread(target=call, daemon=True).start()
            return ended.result()
        finally:
            vars(module)["Popen"] = popen

    @contextmanager
    def _output(self) -> Generator[dict[str, Any], None, None]:
        """Give the streams of a process, which keeps them open."""
        if self._file is None:
            yield {}
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("wb") as file:
            self.printed = self._file
            yield {"stdout": file, "stderr": STDOUT}


@contextmanager
def interruptible(printed: Path | None = None) -> Generator[None, None, None]:
    """Let an interrupt end the Spark that is started meanwhile, and raise only KeyboardInterrupt.

    A file that is given gets what that Spark prints. In another thread than the main one, which
    gets no signals, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts = Interrupts(printed)
    stderr, disabled = sys.stderr, logging.root.manager.disable
    before = signal.signal(signal.SIGINT, interrupts)
    try:
        yield
    except Exception:
        check_interrupt()
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        logging.disable(disabled)
        sys.stderr = stderr


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if there was an interrupt, of which an error may be a result."""
    interrupts = handler()
    if interrupts is not None and interrupts.received:
        raise KeyboardInterrupt


def handler() -> Interrupts | None:
    """Return what handles interrupts; None outside of `interruptible`."""
    found = signal.getsignal(signal.SIGINT)
    return found if isinstance(found, Interrupts) else None


def printed() -> Path | None:
    """Return the file that has what a started Spark printed; None if there is not one."""
    interrupts = handler()
    return None if interrupts is None else interrupts.printed


def _end(process: Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_SECONDS)
    except TimeoutExpired:
        process.kill()
