"""An interrupt ends the Java process of a command, and nothing else is raised or logged."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import types
from pathlib import Path

import pytest

from changewire.engines.interrupts import handler, interruptible, printed


class Module(types.ModuleType):
    """A module that starts a process by its `Popen`, as PySpark's does."""

    Popen: type[subprocess.Popen[bytes]] = subprocess.Popen

    def __init__(self) -> None:
        """Have started nothing."""
        super().__init__("module")
        vars(self)["Popen"] = subprocess.Popen
        self.processes: list[subprocess.Popen[bytes]] = []
        self.is_started = threading.Event()

    def start(self) -> int:
        """Start a process, and wait for it."""
        process = self.Popen(["sleep", "600"])
        self.processes.append(process)
        self.is_started.set()
        return process.wait()

    def interrupt(self) -> None:
        """Interrupt this process as soon as the other one is there."""
        self.is_started.wait()
        os.kill(os.getpid(), signal.SIGINT)


def interrupted_start(module: Module) -> None:
    """Start a process, and interrupt that."""
    with interruptible():
        interrupts = handler()
        assert interrupts is not None
        interrupts.start(module.start, module)


def failing_clean_up() -> None:
    """Fail because Spark has ended, and log it."""
    with interruptible():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            logging.getLogger("py4j").error("no connection")
            raise ConnectionError("Spark has ended")


def test_a_process_that_is_starting_is_ended() -> None:
    """No Java process lives on where an interrupt comes before PySpark knows how to reach it."""
    module, before = Module(), signal.getsignal(signal.SIGINT)
    threading.Thread(target=module.interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        interrupted_start(module)
    assert module.processes[0].wait(10) == -signal.SIGTERM
    assert module.Popen is subprocess.Popen
    assert signal.getsignal(signal.SIGINT) is before


def test_what_a_process_prints_is_in_a_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Both streams go there; which file it is, is known once the process is started."""
    module, file = Module(), tmp_path / "new" / "spark.log"

    def start() -> int:
        return module.Popen(["sh", "-c", "echo to stdout; echo to stderr >&2"]).wait()

    with interruptible(file):
        interrupts = handler()
        assert interrupts is not None
        assert printed() is None
        assert interrupts.start(start, module) == 0
        assert printed() == file
    assert file.read_text("utf-8") == "to stdout\nto stderr\n"
    assert capfd.readouterr() == ("", "")
    assert printed() is None


def test_errors_that_follow_an_interrupt_are_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    """A clean-up that fails since Spark has ended does not hide the interrupt, nor log."""
    with pytest.raises(KeyboardInterrupt):
        failing_clean_up()
    assert caplog.records == []
    logging.getLogger("py4j").error("again")
    assert len(caplog.records) == 1


def test_errors_without_an_interrupt_are_raised() -> None:
    """Nothing changes for what fails by itself."""
    with pytest.raises(ConnectionError, match="no broker"), interruptible():
        raise ConnectionError("no broker")
    assert handler() is None
