"""Run the benchmarks: print tables, and write them with their figures to ``build/bench/``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.figures import figures, load, machine
from benchmarks.tables import Result

OUTPUT = Path("build", "bench")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work: does it run?")
    parser.add_argument("--only", choices=sorted(benchmarks(quick=True)), help="one of them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    options = parser.parse_args()
    chosen = [options.only] if options.only else list(benchmarks(quick=options.quick))
    results: list[Result] = []
    print(machine(), "\n")
    before = load()
    for name in chosen:
        for result in benchmarks(quick=options.quick)[name]():
            print(result.markdown())
            results.append(result)
    text = figures(results, before)
    write(results, text)
    if options.json:
        options.json.write_text(text, encoding="utf-8", newline="\n")


def benchmarks(*, quick: bool) -> Mapping[str, Callable[[], Iterator[Result]]]:
    """Return what can be run, by name; each is imported when it runs."""

    def codec() -> Iterator[Result]:
        from benchmarks.codec import run

        return run(rounds=2 if quick else 15, seconds=0.02 if quick else 0.15)

    def stages() -> Iterator[Result]:
        from benchmarks.stages import run

        return run(rounds=2 if quick else 15, seconds=0.02 if quick else 0.15)

    def formats() -> Iterator[Result]:
        from benchmarks.formats import run

        return run(rounds=2 if quick else 15, seconds=0.01 if quick else 0.1)

    def embedded() -> Iterator[Result]:
        from benchmarks.embedded import run

        return run(rounds=2 if quick else 15, seconds=0.02 if quick else 0.15)

    def kafka() -> Iterator[Result]:
        from benchmarks.kafka import run

        return run(rounds=2 if quick else 7, seconds=0.01 if quick else 0.05)

    def imports() -> Iterator[Result]:
        from benchmarks.imports import run

        return run(rounds=2 if quick else 15)

    def memory() -> Iterator[Result]:
        from benchmarks.memory import run

        return run(megabytes=50 if quick else 1024)

    def spark() -> Iterator[Result]:
        from benchmarks.in_spark import run

        return run(count=20_000 if quick else 100_000, rounds=2 if quick else 5)

    def workers() -> Iterator[Result]:
        from benchmarks.workers import run

        return run(large=100 if quick else 400)

    return {
        "codec": codec,
        "formats": formats,
        "embedded": embedded,
        "kafka": kafka,
        "stages": stages,
        "imports": imports,
        "memory": memory,
        "spark": spark,
        "workers": workers,
    }


def write(results: list[Result], text: str) -> None:
    """Write the tables, and the figures behind them."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tables = "\n".join(result.markdown() for result in results)
    (OUTPUT / "tables.md").write_text(f"{machine()}\n\n{tables}", encoding="utf-8")
    (OUTPUT / "figures.json").write_text(text, encoding="utf-8")
    print(f"tables and figures are in {OUTPUT}")


if __name__ == "__main__":
    main()
