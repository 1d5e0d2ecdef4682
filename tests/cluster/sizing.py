"""What a batch costs on a cluster, by cores and partitions: a floor, and a cost of each message.

``python -m tests.cluster.sizing --wheels FOLDER`` prints a line of JSON for each number of cores
and partitions, and the cores that the formula of docs/operate/sizing.md then gives for some rates.
Batches of a third size check the formula: what it predicts for them stands beside what they took.
Nothing else may run on the machine.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from random import Random
from statistics import linear_regression, median
from typing import Final

import msgspec
import pyarrow as pa
from deltalake import DeltaTable
from examples.broker import broker
from msgspec.structs import replace
from tests.chaos.plan import Job
from tests.cluster.archive import install_spark, pack
from tests.cluster.machines import Cluster, cluster
from tests.cluster.processes import environment
from tests.cluster.store import Store
from tests.cluster.stream import Course, follow, say
from tests.cluster.submit import submission
from tests.cluster.topic import fill

CORES: Final = (1, 2)
PARTITIONS: Final = (4, 16, 64)
SIZES: Final = (20_000, 100_000)
"""Messages of a small batch and of a large one."""

HELD_OUT: Final = 60_000
"""Messages of the batches that the formula must predict: the fit does not see them."""

WARM, MEASURED = 2, 2
"""Batches of each size that are left out, as the JVM is compiling, and those that follow."""

RATES: Final = (1e6 / 60, 100e6 / 60)
LENGTHS: Final = (60, 300)


class Cost(msgspec.Struct):
    """What batches took.

    Attributes:
        cores: Cores of all executors.
        partitions: Partitions of the topic.
        small: Median of the small batches, in seconds.
        large: Median of the large ones.
        floor: What a batch takes without any message, in seconds.
        message: What a message adds, in seconds of a core.
        row: What a row of a table takes in its store, in bytes.
        predicted: What the formula says of a batch of `HELD_OUT` messages, in seconds.
        measured: Median of such batches, in seconds.
    """

    cores: int
    partitions: int
    small: float
    large: float
    floor: float
    message: float
    row: float
    predicted: float
    measured: float


def cores(rate: float, length: float, cost: Cost) -> float:
    """Return the cores that keep up with a rate.

    A batch of ``length`` seconds has ``rate * length`` messages, and must not take longer.

    Args:
        rate: Messages a second.
        length: Of a batch, in seconds, above the floor.
        cost: What a batch takes.
    """
    return rate * cost.message / (1 - cost.floor / length)


def measured(ours: Cluster, server: str, partitions: int) -> Cost:
    """Run a stream in small batches, and one in large ones; check by one of a size between them."""
    number = len(ours.workers)
    small, large = (_followed(ours, server, partitions, size) for size in SIZES)
    fitted = linear_regression(small.rows + large.rows, small.seconds + large.seconds)
    between = _followed(ours, server, partitions, HELD_OUT)
    return Cost(
        cores=number,
        partitions=partitions,
        small=median(small.seconds),
        large=median(large.seconds),
        floor=fitted.intercept,
        message=fitted.slope * number,
        row=_bytes_of_a_row(_lake(ours, partitions, SIZES[-1]) / "tables"),
        predicted=fitted.intercept + fitted.slope * median(between.rows),
        measured=median(between.seconds),
    )


def _followed(ours: Cluster, server: str, partitions: int, size: int) -> Course:
    """Run a stream in batches of a size, and return those after the first ones."""
    topic = f"orders-{len(ours.workers)}-{partitions}-{size}"
    fill(server, topic, partitions=partitions, messages=size * (WARM + MEASURED), seed=size)
    lake = _lake(ours, partitions, size)
    plan = Job(str(lake), server, topic, "delta", size)
    variables = environment(ours.spark, ours.folder / "driver")
    course = follow(ours, submission(ours, plan), variables, iter(()), Random(size))  # noqa: S311
    return replace(course, rows=course.rows[WARM:], seconds=course.seconds[WARM:])


def _lake(ours: Cluster, partitions: int, size: int) -> Path:
    return ours.folder / f"lake-{len(ours.workers)}-{partitions}-{size}"


def _bytes_of_a_row(tables: Path) -> float:
    sizes, rows = 0, 0
    for table in tables.iterdir():
        for file in pa.table(DeltaTable(str(table)).get_add_actions(flatten=True)).to_pylist():
            sizes, rows = sizes + file["size_bytes"], rows + file["num_records"]
    return sizes / rows


def _costs(wheels: Path, folder: Path, cores: list[int], numbers: list[int]) -> Iterator[Cost]:
    pack(folder / "driver", wheels.glob("*.whl"))
    spark = install_spark(folder / "spark", Store(""), options="")
    for number in cores:
        with broker(folder / "broker") as server, cluster(folder, spark, number) as ours:
            for partitions in numbers:
                yield measured(ours, server, partitions)


def main() -> None:
    """Measure as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.sizing", description=__doc__)
    parser.add_argument("--wheels", type=Path, required=True, help="folder of our wheels")
    parser.add_argument("--cores", type=int, nargs="+", default=CORES, help="of all executors")
    parser.add_argument(
        "--partitions", type=int, nargs="+", default=PARTITIONS, help="of the topic"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for cost in _costs(given.wheels, Path(folder), given.cores, given.partitions):
            say(msgspec.json.encode(cost).decode())
            for rate in RATES:
                for length in LENGTHS:
                    enough = f"{ceil(cores(rate, length, cost)):,}" if cost.floor < length else "no"
                    say(f"  {rate:,.0f} a second in batches of {length} s: {enough} cores")


if __name__ == "__main__":
    main()
