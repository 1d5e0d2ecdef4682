"""Compare with Flink: print tables, and write them with their figures to ``build/bench/``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from benchmarks.figures import figures, load, machine
from benchmarks.flink.cases import cases
from benchmarks.flink.rates import rates
from benchmarks.flink.sql import environment

OUTPUT: Final = Path("build", "bench")


def main() -> None:
    """Run the comparison and the cases."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flink", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work: does it run?")
    quick = parser.parse_args().quick
    before, env = load(), environment()
    count, rounds = (20_000, 2) if quick else (200_000, 5)
    results = [rates(env, count=count, rounds=rounds), cases(env)]
    tables = "\n".join([machine(), "", *(result.markdown() for result in results)])
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "flink.md").write_text(tables, encoding="utf-8")
    (OUTPUT / "flink.json").write_text(figures(results, before), encoding="utf-8")
    print(tables)


if __name__ == "__main__":
    main()
