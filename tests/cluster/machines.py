"""A master and its workers, each a process of its own, of which any may be killed."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

from examples.broker import HOST, free_port, waited
from tests.cluster.processes import LOG, environment, running
from tests.cluster.recipe import MASTER, WORKER, commands

MEMORY: Final = "1g"
SECONDS: Final = 120
"""How long a process may take to be there."""


@dataclass
class Cluster:
    """A standalone cluster.

    Attributes:
        folder: Holds a folder for each process.
        spark: The installation of Spark.
        address: Of the master, for ``--master``.
        pages: Where the master says what it has.
        workers: The workers that live.
        started: Workers that were ever started.
        ending: Ends them.
    """

    folder: Path
    spark: Path
    address: str
    pages: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    started: int = 0
    ending: ExitStack = field(default_factory=ExitStack)

    def add(self, cores: int = 1) -> None:
        """Start a worker in a new folder."""
        self.started += 1
        folder = self.folder / f"worker-{self.started}"
        command = worker(self.address, folder, cores)
        variables = environment(self.spark, folder)
        self.workers.append(self.ending.enter_context(running(command, folder, variables)))

    def wait(self) -> None:
        """Wait until all workers are known to the master.

        Raises:
            RuntimeError: They are not within two minutes.
        """
        end = time.monotonic() + SECONDS
        while self._alive() < len(self.workers):
            if time.monotonic() > end:
                raise RuntimeError(f"{self.address} has {self._alive()} of {len(self.workers)}")
            time.sleep(0.2)

    def _alive(self) -> int:
        try:
            with urlopen(f"{self.pages}/json/", timeout=SECONDS) as answer:  # noqa: S310 - our own
                return int(json.load(answer)["aliveworkers"])
        except HTTPError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
            return 0  # the master listens before it has its pages


def master(port: int, pages: int) -> str:
    """Return the command of the page that starts a master, with ports of this machine."""
    places = {"--host HOST": f"--host {HOST} --webui-port {pages}", "7077": str(port)}
    return commands(MASTER, places)


def worker(address: str, folder: Path, cores: int) -> str:
    """Return the command of the page that starts a worker, for a master and with a folder."""
    places = {
        "--cores 4": f"--cores {cores} --host {HOST} --webui-port {free_port()}",
        "8g": MEMORY,
        "/scratch": str(folder / "work"),
        "spark://HOST:7077": address,
    }
    return commands(WORKER, places)


@contextmanager
def cluster(folder: Path, spark: Path, workers: int) -> Generator[Cluster]:
    """Run a master and workers with one core each, and end them surely.

    Raises:
        RuntimeError: They do not start.
    """
    port, pages = free_port(), free_port()
    home = folder / "master"
    with running(master(port, pages), home, environment(spark, home)) as process:
        for one in (port, pages):
            ended = waited(process, f"{HOST}:{one}", home / LOG, seconds=SECONDS)
            if ended is not None:
                raise RuntimeError(f"the master does not listen:\n{ended}")
        found = Cluster(folder, spark, f"spark://{HOST}:{port}", f"http://{HOST}:{pages}")
        with found.ending:
            for _ in range(workers):
                found.add()
            found.wait()
            yield found
