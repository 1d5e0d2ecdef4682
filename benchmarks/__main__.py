"""Run the benchmarks: print tables, and write them with their figures to ``build/bench/``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

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
    rounds = 2 if quick else 15
    options: Mapping[str, Mapping[str, Any]] = {
        "codec": {"rounds": rounds, "seconds": 0.02 if quick else 0.15},
        "formats": {"rounds": rounds, "seconds": 0.01 if quick else 0.1},
        "embedded": {"rounds": rounds, "seconds": 0.02 if quick else 0.15},
        "kafka": {"rounds": 2 if quick else 7, "seconds": 0.01 if quick else 0.05},
        "stages": {"rounds": rounds, "seconds": 0.02 if quick else 0.15},
        "kernel": {"rounds": rounds, "seconds": 0.02 if quick else 0.3},
        "fit": {"rounds": 2 if quick else 7, "seconds": 0.02 if quick else 0.3},
        "imports": {"rounds": rounds},
        "memory": {"megabytes": 50 if quick else 1024},
        "in_spark": {"count": 20_000 if quick else 200_000, "rounds": 2 if quick else 5},
        "workers": {"large": 100 if quick else 400},
    }
    return {name: partial(_run, name, each) for name, each in options.items()}


def _run(name: str, options: Mapping[str, Any]) -> Iterator[Result]:
    results: Iterator[Result] = import_module(f"benchmarks.{name}").run(**options)
    return results


def write(results: list[Result], text: str) -> None:
    """Write the tables, and the figures behind them."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tables = "\n".join(result.markdown() for result in results)
    (OUTPUT / "tables.md").write_text(f"{machine()}\n\n{tables}", encoding="utf-8")
    (OUTPUT / "figures.json").write_text(text, encoding="utf-8")
    print(f"tables and figures are in {OUTPUT}")


if __name__ == "__main__":
    main()
