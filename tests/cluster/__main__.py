"""Run a stream on a cluster of processes, and kill them; then look what is lost or double.

``python -m tests.cluster --wheels FOLDER`` takes the wheel of changewire from a folder, and that of
its kernel if there is one. It exits with 1 if the log does not have each element once, a table is
not that of the model or of the log, or a run with kills killed no executor, no worker or no driver.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Final

import msgspec
from examples.broker import broker
from tests.chaos.checks import Outcome, outcome
from tests.chaos.plan import Job
from tests.cluster.archive import install_spark, pack
from tests.cluster.faults import FAULTS, missing_kills
from tests.cluster.machines import cluster
from tests.cluster.processes import environment
from tests.cluster.store import Store, store
from tests.cluster.stream import follow, say
from tests.cluster.submit import check_places, submission
from tests.cluster.topic import fill
from tests.support.session import settings

import changewire.spark as cws
from changewire.framing import Record

TOPIC: Final = "orders"
BATCHES: Final = 2 * len(FAULTS) + 2
"""Batches of a run, about: the first ends in peace, and each fault comes twice."""

ROOT: Final = Path(__file__).parents[2]


def main() -> None:
    """Run as the arguments say; print a summary."""
    given = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = time.monotonic()
    random = Random(given.seed)  # noqa: S311 - no secrets
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = pack(folder / "driver", given.wheels.glob("*.whl"), connect=given.connect)
        say(f"the archive has {archive.stat().st_size / 1e6:.0f} MB")
        with broker(folder / "broker") as server, store(given.store, folder) as lake:
            topic = {"messages": given.messages, "seed": given.seed}
            sent = fill(server, TOPIC, partitions=given.partitions, **topic)
            say(f"the topic has {len(sent)} messages")
            rows = -(-len(sent) // given.batches)
            plan = Job(lake.root, server, TOPIC, "delta", rows)
            with cluster(folder, install_spark(folder / "spark", lake), given.workers) as ours:
                check_places(ours, (ROOT, Path(sys.prefix)))
                command = submission(ours, plan, connect=given.connect)
                variables = environment(ours.spark, folder / "driver")
                faults = cycle(FAULTS) if given.kill else iter(())
                course = follow(ours, command, variables, faults, random)
            found = _found(lake, plan, sent, folder)
    seconds = round(time.monotonic() - started)
    summary = {"course": course, "seconds": seconds, "found": found}
    say(msgspec.json.format(msgspec.json.encode(summary), indent=2).decode())
    missing = missing_kills(course.kills) if given.kill else []
    if missing:
        say(f"never killed: {', '.join(missing)}; take more --batches")
    sys.exit(found.is_bad or bool(missing))


def _found(lake: Store, plan: Job, sent: list[Record], folder: Path) -> Outcome:
    """Return what the stream left, read on this machine alone."""
    own = settings(folder / "warehouse")
    jars = ",".join([own["spark.jars"], *map(str, lake.jars)])
    session = cws.session({**own, **lake.settings, "spark.jars": jars})
    try:
        return outcome(session, plan, sent)
    finally:
        session.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--wheels", type=Path, required=True, help="folder of our wheels")
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--batches", type=int, default=BATCHES, help="batches, about")
    parser.add_argument("--partitions", type=int, default=4, help="of the topic")
    parser.add_argument("--workers", type=int, default=2, help="workers with a core each")
    parser.add_argument("--store", choices=("folder", "s3"), default="folder")
    parser.add_argument("--connect", action="store_true", help="submit by Spark Connect")
    parser.add_argument("--no-kill", dest="kill", action="store_false", help="let all live")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
