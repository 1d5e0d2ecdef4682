"""Kill the driver, restart the broker, take the tables away; then look what is lost or double.

``python -m tests.chaos 50`` does it 50 times, ``--sink iceberg`` with tables of Iceberg. It exits
with 1 if the outputs do not have each element once, or a table is not that of the model.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable
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
        job: The query.
        sent: The messages of its topic.
        faults: How often each fault was tried.
        kills: How many drivers were killed.
    """

    job: Job
    sent: list[Record]
    faults: Counter[str]
    kills: int = 0


def chaos(faults: Iterable[str], folder: Path, sink: str, seed: int, *, histories: bool) -> Chaos:
    """Start a query again and again, each time with another fault; then let it end."""
    history, random = History(seed), Random(seed)  # noqa: S311 - no secrets
    with ExitStack() as running:
        server = running.enter_context(broker(folder / "broker"))
        create(server, TOPIC, partitions=PARTITIONS)
        job = Job(str(folder / "lake"), server, TOPIC, sink, BATCH, histories=histories)
        done = Chaos(job, [], Counter())
        for number, fault in enumerate(faults, 1):
            done.sent += produce(server, history.records(MESSAGES, TOPIC))
            with ExitStack() as after:
                during = {
                    "broker restarted": partial(restart, running, folder / "broker"),
                    "tables unwritable": partial(after.enter_context, without(job.tables)),
                }
                step = fault if fault in STEPS else None
                code = start(replace(job, step=step, times=random.randint(1, 2)), during.get(fault))
            done.faults[fault] += 1
            done.kills += code < 0
            say(f"{number:4} {fault}: {'killed' if code < 0 else f'ended with {code}'}")
        if start(job):
            raise SystemExit("the query does not end without a fault")
    return done


def start(job: Job, during: Callable[[], object] | None = None) -> int:
    """Run the query until it ends or is killed; return its exit code, negative for a signal.

    Args:
        job: The query.
        during: Called when its first batch is written.
    """
    program = [sys.executable, "-m", "tests.chaos.driver", msgspec.json.encode(job).decode()]
    with subprocess.Popen(
        program,
        cwd=ROOT,
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
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        faults = islice(cycle(FAULTS), given.runs)
        done = chaos(faults, Path(folder), given.sink, given.seed, histories=given.histories)
        spark = cws.session(settings(Path(done.job.folder, "warehouse")))
        found = outcome(spark, done.job, done.sent)
    seconds = round(time.monotonic() - started)
    summary = {"faults": done.faults, "kills": done.kills, "seconds": seconds, "found": found}
    say(msgspec.json.format(msgspec.json.encode(summary), indent=2).decode())
    wrong = found.wrong_rows + found.wrong_histories
    sys.exit(bool(found.lost or found.double or wrong))


if __name__ == "__main__":
    main()
