"""What is killed amid a batch: parts of a cluster, each as if its machine or its kernel did it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Final

import psutil
from tests.cluster.machines import Cluster
from tests.cluster.processes import children, kill_all

EXECUTOR: Final = "CoarseGrainedExecutorBackend"
PYTHON: Final = "pyspark.daemon"
WORKER: Final = "deploy.worker.Worker"

Kill = Callable[[Cluster, subprocess.Popen[bytes], Random], int]
"""Kills something of a cluster or its driver, and returns how many processes that were."""


def kill_driver(_: Cluster, driver: subprocess.Popen[bytes], __: Random) -> int:
    """Kill the driver: its JVM and its Python."""
    number = len(children(driver, ""))
    kill_all(driver)
    return number


def kill_executor(cluster: Cluster, _: subprocess.Popen[bytes], random: Random) -> int:
    """Kill an executor; its worker starts another. After other faults there may be none yet."""
    found = _of(cluster, EXECUTOR)
    return _kill(random.sample(found, min(1, len(found))))


def kill_python(cluster: Cluster, _: subprocess.Popen[bytes], __: Random) -> int:
    """Kill the Python of all executors; each starts it again."""
    return _kill(_of(cluster, PYTHON))


def kill_worker(cluster: Cluster, _: subprocess.Popen[bytes], random: Random) -> int:
    """Kill a worker, whose executor ends by itself; another one comes."""
    worker = cluster.workers.pop(random.randrange(len(cluster.workers)))
    number = _kill(children(worker, WORKER))
    cluster.add()
    return number


def kill_machine(cluster: Cluster, _: subprocess.Popen[bytes], random: Random) -> int:
    """Kill a worker and all that it started at once; another one comes, with an empty disk."""
    worker = cluster.workers.pop(random.randrange(len(cluster.workers)))
    number = len(children(worker, ""))
    kill_all(worker)
    cluster.add()
    return number


FAULTS: Final[Mapping[str, Kill]] = {
    "executor": kill_executor,
    "driver": kill_driver,
    "worker": kill_worker,
    "python": kill_python,
    "machine": kill_machine,
}


NEEDED: Final = ("executor", "worker", "driver")
"""What a run with kills must have killed to say anything."""


def missing_kills(kills: Mapping[str, int]) -> list[str]:
    """Return what of `NEEDED` was not killed, by how many processes each fault killed."""
    return [fault for fault in NEEDED if kills.get(fault, 0) == 0]


def _of(cluster: Cluster, word: str) -> list[psutil.Process]:
    return [found for worker in cluster.workers for found in children(worker, word)]


def _kill(processes: list[psutil.Process]) -> int:
    number = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
            number += 1
    return number
