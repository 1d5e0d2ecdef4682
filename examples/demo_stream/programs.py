"""The commands of the tour, run as a person types them, in a folder of their own."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from examples.demo.screen import command as show
from examples.demo.screen import line as show_line
from examples.jars import JAVA, spark_jars
from rich.console import Console

SECONDS: Final = 600
"""How long one command may take."""

_COLUMNS: Final = "200"
"""How wide commands write, so that they break no line."""


class Ended(NamedTuple):
    """A command that has ended.

    Attributes:
        code: Its exit code; negative for the signal that ended it.
        lines: What it showed.
    """

    code: int
    lines: list[str]


class Programs:
    """Runs commands, and shows each before it runs and its last lines behind it."""

    def __init__(self, console: Console, folder: Path) -> None:
        """Fetch the jars of Spark's connectors.

        Args:
            console: Where commands are shown.
            folder: Where what they say is kept, as ``engine.log``.

        Raises:
            JarsError: The jars cannot be had.
        """
        self._console = console
        self._log = folder / "engine.log"
        self._environment = {**environment(), "COLUMNS": _COLUMNS}

    def run(self, command: str, *, shown: int = 1, waits_for: str = "") -> Ended:
        """Run a command to its end, and show the last lines of its output.

        Args:
            command: The command.
            shown: How many lines are shown.
            waits_for: What the command waits for, in words; nothing if it is quick.
        """
        show(self._console, command)
        self._say(waits_for)
        done = subprocess.run(
            words(command),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
            env=self._environment,
            timeout=SECONDS,
        )
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ {command}\n{done.stdout}")
        for line in lines[-shown:]:
            show_line(self._console, line)
        return Ended(done.returncode, lines)

    def run_and_kill(self, command: str, sign: Path) -> Ended:
        """Run a command, and end it by SIGKILL as soon as a file has a line."""
        show(self._console, f"{command} &")
        self._say("Spark to start, and the first batch to be committed")
        with (
            self._log.open("ab") as log,
            subprocess.Popen(
                words(command), stdout=log, stderr=log, env=self._environment
            ) as process,
        ):
            end = time.monotonic() + SECONDS
            while process.poll() is None and not lines_of(sign) and time.monotonic() < end:
                time.sleep(0.05)
            show(self._console, "kill -9 $!")
            process.kill()
            return Ended(process.wait(), lines_of(sign))

    def _say(self, waits_for: str) -> None:
        if waits_for:
            show_line(self._console, f"waiting for {waits_for} ...", "dim")


def environment() -> Mapping[str, str]:
    """Return the environment of the programs: where the jars are, and to compile little."""
    connectors = ",".join(str(jar) for jar in spark_jars("kafka", "delta"))
    submit = f"--jars {connectors} --driver-java-options {shlex.quote(JAVA)} pyspark-shell"
    return {**os.environ, "PYSPARK_SUBMIT_ARGS": submit, "PYTHONUNBUFFERED": "1"}


def words(command: str) -> list[str]:
    """Return the words of a command, of which ``python`` and ``changewire`` are those of here."""
    program, *rest = shlex.split(command)
    ours = {"python": [sys.executable], "changewire": [sys.executable, "-m", "changewire.cli"]}
    return [*ours[program], *rest]


def lines_of(file: Path) -> list[str]:
    """Return the lines of a file; none where it is not there."""
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
