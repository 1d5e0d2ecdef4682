"""Kill the driver, restart the broker, take the tables away; then look what is lost or double.

``python -m tests.chaos 50`` does it 50 times, ``--sink iceberg`` with tables of Iceberg,
``--writers 2`` with two queries that write to the same tables at once. It exits with 1 if the
outputs do not have each element once, or a table is not that of the model.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Final

import msgspec
from examples.broker import broker
from msgspec.structs import replace
from tests.chaos.checks import outcome
from tests.chaos.driver import STEPS
from tests.chaos.messages import PARTITIONS, History
from tests.chaos.plan import Job
from tests.support.session import settings
from tests.support.topics import create, produce

import changewire.spark as cws
from changewire.framing import Record

TOPIC: Final = "chaos"
FAULTS: Final = (*STEPS, "broker restarted", "tables unwritable", "nothing")
MESSAGES, BATCH = 60, 40
SECONDS: Final = 900
ROOT: Final = Path(__file__).parents[2]


class Chaos(msgspec.Struct):
    """What was done.

    Attributes:
        sent: The messages of each query, in its topic.
        faults: How often each fault was tried.
        kills: How many drivers were killed.
    """

    sent: dict[Job, list[Record]]
    faults: Counter[str]
    kills: int = 0


def chaos(faults: Iterable[str], folder: Path, given: argparse.Namespace) -> Chaos:
    """Start queries again and again, each time one with another fault; then let them end."""
    history, random = History(given.seed), Random(given.seed)  # noqa: S311 - no secrets
    with ExitStack() as running, ThreadPoolExecutor(given.writers) as pool:
        server = running.enter_context(broker(folder / "broker"))
        lake, numbers = str(folder / "lake"), range(1, given.writers + 1)
        plan = Job(lake, server, TOPIC, given.sink, BATCH, histories=given.histories)
        jobs = [replace(plan, topic=f"{TOPIC}-{number}", writer=number) for number in numbers]
        create(server, *(job.topic for job in jobs), partitions=PARTITIONS)
        done = Chaos({job: [] for job in jobs}, Counter())
        for (number, fault), victim in zip(enumerate(faults, 1), cycle(jobs)):
            for job, sent in done.sent.items():
                sent.extend(produce(server, history.records(MESSAGES, job.topic)))
            with ExitStack() as after:
                during = {
                    "broker restarted": partial(restart, running, folder / "broker"),
                    "tables unwritable": partial(after.enter_context, without(victim.tables)),
                }
                others = [pool.submit(start, job) for job in jobs if job is not victim]
                step = fault if fault in STEPS else None
                job = replace(victim, step=step, times=random.randint(1, 2))
                code = start(job, during.get(fault))
                ends = [other.result() for other in others]
            done.faults[fault] += 1
            done.kills += code < 0
            beside = f", beside it {ends}" if ends else ""
            say(f"{number:4} {fault}: {'killed' if code < 0 else f'ended with {code}'}{beside}")
        if any(start(job) for job in jobs):
            raise SystemExit("a query does not end without a fault")
    return done


def start(job: Job, during: Callable[[], object] | None = None) -> int:
    """Run the query until it ends or is killed; return its exit code, negative for a signal.

    Args:
        job: The query.
        during: Called when its first batch is written.
    """
    program = [sys.executable, "-m", "tests.chaos.driver", msgspec.json.encode(job).decode()]
    # A driver that is killed leaves its files: 70 MB and more.
    local = str(Path(job.folder, "local"))
    with subprocess.Popen(
        program,
        cwd=ROOT,
        env={**os.environ, "SPARK_LOCAL_DIRS": local},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        if process.stdout.readline() and during is not None:
            during()
        process.communicate(timeout=SECONDS)
        return process.returncode


def restart(running: ExitStack, folder: Path) -> None:
    """Kill the broker, and start it again."""
    running.close()
    running.enter_context(broker(folder))


@contextmanager
def without(tables: Path) -> Generator[None]:
    """Take a folder away for a while, and let a file stand in its place."""
    away = tables.with_name("away")
    tables.rename(away)
    tables.write_text("a file has no place for tables", encoding="utf-8")
    try:
        yield
    finally:
        tables.unlink()
        away.rename(tables)


def say(text: str) -> None:
    """Tell how far it is."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Run as the arguments say; print a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=len(FAULTS))
    parser.add_argument("--sink", choices=("delta", "iceberg"), default="delta")
    parser.add_argument("--seed", type=int, default=1)
    keeps = "keep versions of the rows; without them, most batches are not counted first"
    parser.add_argument(
        "--histories", action=argparse.BooleanOptionalAction, default=True, help=keeps
    )
    parser.add_argument("--writers", type=int, default=1, help="queries that write at once")
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        faults = islice(cycle(FAULTS), given.runs)
        done = chaos(faults, Path(folder), given)
        spark = cws.session(settings(Path(folder, "lake", "warehouse")))
        found = outcome(spark, done.sent)
    seconds = round(time.monotonic() - started)
    summary = {"faults": done.faults, "kills": done.kills, "seconds": seconds, "found": found}
    say(msgspec.json.format(msgspec.json.encode(summary), indent=2).decode())
    wrong = found.wrong_rows + found.wrong_histories
    sys.exit(bool(found.lost or found.double or wrong))


if __name__ == "__main__":
    main()
