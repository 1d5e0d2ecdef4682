"""Measure streams from a Kafka broker to Delta and Iceberg beside jobs by hand; print one table.

The table and its figures are kept in ``build/bench/``, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from examples.broker import broker

from benchmarks.figures import figures, load, machine
from benchmarks.streams.cases import CASES, small
from benchmarks.streams.ratios import table
from benchmarks.streams.running import Run

OUTPUT: Final = Path("build", "bench")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    names = [case.name for case in CASES]
    parser.add_argument("--only", choices=names, nargs="+", default=names, help="rows of the table")
    parser.add_argument("--rounds", type=int, default=1, help="how often each job is timed")
    parser.add_argument("--quick", action="store_true", help="little work: does it run?")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", default=OUTPUT, help="for figures")
    given = parser.parse_args()
    print(machine(), "\n")
    before = load()
    cases = [case for case in CASES if case.name in given.only]
    with TemporaryDirectory() as folder, broker(Path(folder, "broker")) as server:
        run = Run(server, Path(folder), warm_up=200 if given.quick else 200_000)
        chosen = map(small, cases) if given.quick else cases
        result = table([(case, run.compare(case, given.rounds)) for case in chosen])
    given.folder.mkdir(parents=True, exist_ok=True)
    text = f"{machine()}\n\n{result.markdown()}"
    given.folder.joinpath("stream.md").write_text(text, encoding="utf-8")
    given.folder.joinpath("stream.json").write_text(figures([result], before), encoding="utf-8")
    print("", result.markdown(), sep="\n", flush=True)


if __name__ == "__main__":
    main()
