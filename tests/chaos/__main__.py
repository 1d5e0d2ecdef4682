"""Kill the driver, restart the broker, take the tables away; then look what is lost or double.

``python -m tests.chaos 50`` does it 50 times, ``--table-format iceberg`` with tables of Iceberg,
``--deletes flag`` with deleted rows that stay. Another query that tries the same tables must be
refused. It exits with 1 if the log does not have each element once, a table is not that of the
model or of its log, or a step killed no driver.
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
from tests.chaos.driver import OWNED
from tests.chaos.messages import PARTITIONS, History
from tests.chaos.plan import Job
from tests.chaos.steps import STEPS
from tests.support.session import settings
from tests.support.topics import create, produce

import changewire.spark as cws
from changewire.framing import Record

TOPIC: Final = "chaos"
BROKER, UNWRITABLE, OTHER, NOTHING = (
    *("broker restarted", "tables unwritable", "another query", "nothing"),
)
FAULTS: Final = (*STEPS, BROKER, UNWRITABLE, OTHER, NOTHING)
MESSAGES, BATCH = 40, 40
SECONDS: Final = 900
ROOT: Final = Path(__file__).parents[2]


class Chaos(msgspec.Struct):
    """What was done.

    Attributes:
        job: The query, without a fault.
        sent: The messages in its topic.
        faults: How often each fault was tried.
        kills: How many drivers were killed at each step.
        intruders: Other queries that were not refused.
    """

    job: Job
    sent: list[Record] = []
    faults: Counter[str] = msgspec.field(default_factory=Counter)
    kills: Counter[str] = msgspec.field(default_factory=Counter)
    intruders: int = 0

    @property
    def missing(self) -> list[str]:
        """Steps at which no driver was killed, of those that were tried."""
        return [step for step in STEPS if self.faults[step] and not self.kills[step]]


def chaos(faults: Iterable[str], folder: Path, given: argparse.Namespace) -> Chaos:
    """Start a query again and again, each time with another fault; then let it end."""
    history = History(given.seed, has_refused=True)
    random = Random(given.seed)  # noqa: S311 - no secrets
    with ExitStack() as running:
        server = running.enter_context(broker(folder / "broker"))
        lake = str(folder / "lake")
        done = Chaos(Job(lake, server, TOPIC, given.table_format, BATCH, deletes=given.deletes))
        create(server, TOPIC, partitions=PARTITIONS)
        restarted = partial(restart, running, folder / "broker")
        for number, fault in enumerate(faults, 1):
            done.sent += produce(server, history.records(MESSAGES, TOPIC))
            code = suffer(done, fault, restarted, 1 if "refused" in fault else random.randint(1, 2))
            say(f"{number:4} {fault}: {'killed' if code < 0 else f'ended with {code}'}")
        if start(done.job):
            raise SystemExit("the query does not end without a fault")
    return done


def suffer(done: Chaos, fault: str, restarted: Callable[[], None], times: int) -> int:
    """Start the query with a fault, and note what came of it; return its exit code.

    Args:
        done: What was done so far.
        fault: One of `FAULTS`.
        restarted: Restarts the broker.
        times: How often a step is reached before the driver is killed.
    """
    done.faults[fault] += 1
    if fault == OTHER:
        done.intruders += start(replace(done.job, query="_other")) != OWNED
    with ExitStack() as after:
        during: dict[str, Callable[[], object]] = {
            BROKER: restarted,
            UNWRITABLE: partial(after.enter_context, without(done.job.tables)),
        }
        step = fault if fault in STEPS else None
        code = start(replace(done.job, step=step, times=times), during.get(fault))
    done.kills[fault] += code < 0
    return code


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
    parser.add_argument("--table-format", choices=("delta", "iceberg"), default="delta")
    parser.add_argument("--deletes", choices=("remove", "flag"), default="remove")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        done = chaos(islice(cycle(FAULTS), given.runs), Path(folder), given)
        spark = cws.session(settings(Path(folder, "lake", "warehouse")))
        found = outcome(spark, done.job, done.sent)
    summary = {
        "faults": done.faults,
        "kills": done.kills.total(),
        "never_killed": done.missing,
        "intruders": done.intruders,
        "seconds": round(time.monotonic() - started),
        "found": found,
    }
    say(msgspec.json.format(msgspec.json.encode(summary), indent=2).decode())
    sys.exit(found.is_bad or bool(done.intruders or done.missing))


if __name__ == "__main__":
    main()
