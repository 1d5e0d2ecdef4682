"""Measure streams from a Kafka broker to Delta: print tables, and keep them in ``build/bench/``.

Each part replaces its own tables there, so that a run may be done part by part.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from examples.broker import broker
from msgspec.structs import replace

from benchmarks.figures import figures, load, machine
from benchmarks.streams.batches import batches
from benchmarks.streams.rates import iceberg, log, merge
from benchmarks.streams.running import Run
from benchmarks.streams.sizes import tables
from benchmarks.tables import Result

OUTPUT: Final = Path("build", "bench")
PARTS: Final[Mapping[str, Callable[[Run], Iterator[Result]]]] = {
    "log": log,
    "merge": merge,
    "tables": tables,
    "batches": batches,
    "iceberg": iceberg,
}
"""What is measured, by name."""


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000, help="messages of a topic")
    parser.add_argument("--batch", type=int, default=100_000, help="messages of a batch, at most")
    parser.add_argument("--rounds", type=int, default=1, help="how often each job is timed")
    parser.add_argument("--only", choices=list(PARTS), help="one of the parts")
    parser.add_argument("--quick", action="store_true", help="little work: does it run?")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", default=OUTPUT, help="for figures")
    given = parser.parse_args()
    print(machine(), "\n")
    with TemporaryDirectory() as folder, broker(Path(folder, "broker")) as server:
        run = Run(server, Path(folder), given.messages, given.batch, rounds=given.rounds)
        if given.quick:
            run = quick(run)
        run.warm()
        for part in [given.only] if given.only else PARTS:
            before = load()
            results = list(PARTS[part](run))
            keep(given.folder, part, results, before)
            print("", *(result.markdown() for result in results), sep="\n", flush=True)


def quick(run: Run) -> Run:
    """Return a run that does little."""
    return replace(
        run, messages=2000, batch=1000, warm_up=200, changes=500, sizes=(1000, 5000), batches=3
    )


def keep(folder: Path, part: str, results: list[Result], before: float | None) -> None:
    """Write the tables and figures of a part, and the figures of all parts that are there.

    Args:
        folder: Where they are kept.
        part: Name of the part.
        results: Its tables.
        before: The load of the machine before it ran.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = "\n".join(result.markdown() for result in results)
    (folder / f"stream-{part}.md").write_text(f"{machine()}\n\n{tables}", encoding="utf-8")
    (folder / f"stream-{part}.json").write_text(figures(results, before), encoding="utf-8")
    paths = [folder / f"stream-{name}.json" for name in PARTS]
    parts = [json.loads(path.read_bytes()) for path in paths if path.exists()]
    every = [{"machine": found["machine"], **each} for found in parts for each in found["results"]]
    text = json.dumps({**parts[-1], "results": every}, indent=1) + "\n"
    (folder / "stream.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
