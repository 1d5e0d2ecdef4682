"""What is submitted to a cluster: the job of the page, and one that says where executors live."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from examples.broker import HOST, free_port
from examples.jars import spark_jars
from tests.chaos.plan import Job
from tests.cluster.machines import Cluster
from tests.cluster.processes import environment
from tests.cluster.recipe import CLIENT, SERVER, SUBMIT, commands, job

CONNECTORS: Final = ("kafka", "delta")
PACKAGES: Final = re.compile(r"--packages \S+")
SECONDS: Final = 600
BOUND: Final = f"--conf spark.connect.grpc.binding.address={HOST}"

BESIDE: Final = """{server} >server.log 2>&1 & server=$!
until (: </dev/tcp/{host}/{port}) 2>/dev/null; do kill -0 $server || exit 1; sleep 1; done
{client}"""
"""Runs a client as soon as its server listens."""


def submission(cluster: Cluster, plan: Job, *, connect: bool = False) -> str:
    """Write the job of the page for the driver, and return what runs it there.

    Args:
        cluster: Where it runs.
        plan: What it does.
        connect: Whether a client of Spark Connect runs it, beside a server that is the driver.
    """
    cluster.folder.joinpath("driver", "job.py").write_text(job(), encoding="utf-8")
    places = {
        "/shared/lake": plan.folder,
        "HOST:9092": plan.server,
        "orders 1200000": f"{plan.topic} {plan.rows}",
    }
    if not connect:
        return _submitting(cluster, SUBMIT, places)
    port = str(free_port())
    server = {"15002": port, "--conf spark.connect": f"{BOUND} --conf spark.connect"}
    path = shlex.quote(os.environ.get("PYTHONPATH", ""))
    client = {"python3": f"PYTHONPATH={path} {shlex.quote(sys.executable)}", **places}
    return BESIDE.format(
        server=_submitting(cluster, SERVER, server).rstrip(),
        host=HOST,
        port=port,
        client=commands(CLIENT, {"HOST:15002": f"{HOST}:{port}", **client}),
    )


def check_places(cluster: Cluster, forbidden: Iterable[Path]) -> None:
    """Check that executors run Python and changewire of the archive, each in its own folder.

    Args:
        cluster: Must have the folder of a driver.
        forbidden: Folders that no executor may look into.

    Raises:
        RuntimeError: An executor has something from elsewhere, or a worker has no executor.
    """
    probe = Path(__file__).with_name("probe.py")
    places = {"job.py /shared/lake HOST:9092 orders 1200000": str(probe)}
    driver = cluster.folder / "driver"
    done = subprocess.run(
        ["bash", "-ec", _submitting(cluster, SUBMIT, places)],  # noqa: S607 - the system's own
        cwd=driver,
        env=environment(cluster.spark, driver),
        check=True,
        stdout=subprocess.PIPE,
        timeout=SECONDS,
    )
    executors = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
    homes = {Path(one["folder"]).parents[1] for one in executors}
    if len(homes) != len(cluster.workers):
        raise RuntimeError(f"{len(cluster.workers)} workers have executors in {homes}")
    for one in executors:
        own = Path(one["folder"], "environment")
        seen = [Path(place) for place in one["path"]]
        strange = [place for place in seen if any(map(place.is_relative_to, forbidden))]
        if strange or not all(Path(one[name]).is_relative_to(own) for name in ("prefix", "module")):
            raise RuntimeError(f"an executor has Python from elsewhere: {one}")


def _submitting(cluster: Cluster, block: int, places: dict[str, str]) -> str:
    """Return the command of the page, with places of this machine and jars that are here."""
    jars = ",".join(str(jar) for jar in spark_jars(*CONNECTORS))
    cores = len(cluster.workers)
    ours = {
        "--master spark://HOST:7077": f"--master {cluster.address}",
        "artitions=8": f"artitions={cores}",
        **places,
    }
    return PACKAGES.sub(f"{_registered(cores)} --jars {jars}", commands(block, ours))


def _registered(cores: int) -> str:
    """Return options by which all executors are there before the first task, so each has some."""
    options = {"spark.scheduler.minRegisteredResourcesRatio": 1, "spark.cores.max": cores}
    return " ".join(f"--conf {name}={value}" for name, value in options.items())
