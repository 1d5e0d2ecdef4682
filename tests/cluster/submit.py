"""What is submitted to a cluster: the job of the page, and one that says where executors live."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from examples.jars import spark_jars
from tests.chaos.plan import Job
from tests.cluster.machines import Cluster
from tests.cluster.processes import environment
from tests.cluster.recipe import SUBMIT, commands, job

CONNECTORS: Final = ("kafka", "delta")
PACKAGES: Final = re.compile(r"--packages \S+")
SECONDS: Final = 600


def submission(cluster: Cluster, plan: Job) -> str:
    """Write the job of the page for the driver, and return the command that submits it."""
    cluster.folder.joinpath("driver", "job.py").write_text(job(), encoding="utf-8")
    places = {
        "/shared/lake": plan.folder,
        "HOST:9092": plan.server,
        "orders 1200000": f"{plan.topic} {plan.rows}",
    }
    return _submitting(cluster, places)


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
        ["bash", "-ec", _submitting(cluster, places)],  # noqa: S607 - the system's own
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


def _submitting(cluster: Cluster, places: dict[str, str]) -> str:
    """Return the command of the page, with places of this machine and jars that are here."""
    jars = ",".join(str(jar) for jar in spark_jars(*CONNECTORS))
    cores = len(cluster.workers)
    ours = {
        "--master spark://HOST:7077": f"--master {cluster.address}",
        "artitions=8": f"artitions={cores}",
        **places,
    }
    # All executors are there before the first task, so that each has some.
    registered = (
        f"--conf spark.scheduler.minRegisteredResourcesRatio=1 --conf spark.cores.max={cores}"
    )
    return PACKAGES.sub(f"{registered} --jars {jars}", commands(SUBMIT, ours))
