"""Messages a second, by Flink and by changewire in turn."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import changewire.arrow as cwa
from benchmarks import topics
from benchmarks.cpu import cpu_seconds
from benchmarks.flink import sql
from benchmarks.tables import Result
from changewire.engines.native import SWITCH, installed

FORMAT: Final = "lindorm-json"
FLINK, LINES = "Flink, debezium-json", "Flink, lines only"
PYTHON, KERNEL = "changewire, without the kernel", "changewire, with the kernel"
COLUMNS: Final = {
    "id": "BIGINT",
    "name": "STRING",
    "city": "STRING",
    "balance": "DOUBLE",
    "is_active": "BOOLEAN",
    "created_at": "BIGINT",
}
"""The columns of the table in SQL, as a job by hand would declare them."""

_FILES: Final = 4
_WARM_UP: Final = 3
"""Rounds that only warm the JVM up."""


class Done(NamedTuple):
    """What a round of a job took, in seconds.

    Attributes:
        wall: From its start to its end; for Flink with the start of a local cluster.
        job: The same without the cluster, as Flink reports it.
        cpu: CPU time of this program and of its JVM.
    """

    wall: float
    job: float
    cpu: float


def rates(env: Any, *, count: int, rounds: int) -> Result:
    """Return the table of rates; jobs take turns in each round.

    Args:
        env: A table environment of Flink.
        count: Messages.
        rounds: How often each job is timed.
    """
    with tempfile.TemporaryDirectory() as folder:
        write(topics.table(FORMAT, count)["value"].to_pylist(), Path(folder))
        jobs = _jobs(env, folder, count)
        found: dict[str, list[Done]] = {name: [] for name in jobs}
        for _ in range(_WARM_UP + rounds):
            for name, job in jobs.items():
                found[name].append(_done(job))
    return result({name: each[_WARM_UP:] for name, each in found.items()}, count)


def write(values: Sequence[bytes], folder: Path) -> None:
    """Write files of one size, with a message in each line."""
    size = -(-len(values) // _FILES)
    for i in range(_FILES):
        lines = b"".join(value + b"\n" for value in values[i * size : (i + 1) * size])
        (folder / f"part-{i}.jsonl").write_bytes(lines)


def result(found: Mapping[str, Sequence[Done]], count: int) -> Result:
    """Return the table of the rounds of each job over ``count`` messages."""
    rows = []
    for name, rounds in found.items():
        each = [count / done.job / 1000 for done in rounds]
        wall, job, cpu = (
            median(getattr(done, what) for done in rounds) for what in ("wall", "job", "cpu")
        )
        rate = (f"{count / job / 1000:.0f}", f"{min(each):.0f}-{max(each):.0f}")
        of_cpu = (f"{cpu:.2f}", f"{count / cpu / 1000:.0f}")
        rows.append((name, f"{wall:.2f}", f"{job:.2f}", *rate, *of_cpu))
    head = (
        *("", "median, s", "the job alone, s", "1000 messages/s", "spread over rounds"),
        *("CPU time, s", "1000 messages per second of CPU time"),
    )
    data = {name: [done._asdict() for done in rounds] for name, rounds in found.items()}
    title = f"{FORMAT}: decode {count} messages beside Flink, 2 cores"
    return Result(title, head, rows, "", {"seconds": data})


def _jobs(env: Any, folder: str, count: int) -> dict[str, Callable[[], float | None]]:
    """Return jobs by name; each returns the seconds that it reports itself, if it does."""
    line = {"line": "STRING"}
    lines = {"connector": "filesystem", "path": Path(folder).as_uri(), "format": "raw"}
    nothing = {"connector": "blackhole"}
    tables = {
        "messages": (COLUMNS, sql.messages(folder, ignore_errors=True)),
        "lines": (line, lines),
        "no_rows": (COLUMNS, nothing),
        "no_lines": (line, nothing),
    }
    for name, (columns, options) in tables.items():
        env.execute_sql(sql.table(name, columns, options))
    jobs: dict[str, Callable[[], float | None]] = {
        LINES: lambda: sql.insert(env, "lines", "no_lines"),
        FLINK: lambda: sql.insert(env, "messages", "no_rows"),
        PYTHON: lambda: _decode(folder, count, kernel=False),
    }
    if installed():
        jobs[KERNEL] = lambda: _decode(folder, count, kernel=True)
    return jobs


def _decode(folder: str, count: int, *, kernel: bool) -> None:
    os.environ[SWITCH] = "1" if kernel else "0"
    decoded = cwa.decode(folder, format=FORMAT, key_columns=["id"])
    rows = sum(len(batch) for batch in decoded.rows)
    if rows != count:
        raise RuntimeError(f"{count} messages went in, {rows} rows came out")


def _done(job: Callable[[], float | None]) -> Done:
    cpu, start = cpu_seconds(), time.perf_counter()
    reported = job()
    wall = time.perf_counter() - start
    return Done(wall, wall if reported is None else reported, cpu_seconds() - cpu)
