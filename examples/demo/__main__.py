"""Show what changewire does: messages of every format become a log, and nothing is lost.

``nox -s demo`` runs this, or ``python -m examples.demo [FOLDER]`` where changewire is installed.
Logs and reports are written to the folder, or to ``build/demo/`` below the working directory.
"""

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from examples.demo import changes, dead_letters, mixed, summary
from examples.demo.outputs import FORMATS, INPUTS
from rich.console import Console

from changewire.engines.options import Engine
from changewire.engines.outcome import Outcome
from changewire.job import run
from changewire.jobs.checks import missing_for_spark

OUTPUT: Final = Path("build", "demo")
_WIDTH: Final = 100


def main(arguments: Sequence[str]) -> None:
    """Run the main job on the examples of each format and show the results."""
    output = Path(arguments[0]) if arguments else OUTPUT
    output.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    console.width = min(console.width, _WIDTH)
    outcomes: dict[str, Outcome] = {}
    lack = missing_for_spark()
    engine: Engine = "spark" if lack is None else "python"
    with console.status("Starting …") as status, stderr_to(output / "engine.log"):
        for folder, name in FORMATS.items():
            status.update(f"Reading {folder} …")
            inputs, place = [str(INPUTS / folder)], str(output / folder)
            outcomes[folder] = run(inputs, place, format=name, engine=engine)
    summary.show(console, outcomes, lack)
    changes.show(console, outcomes)
    mixed.show(console, outcomes["mixed"])
    dead_letters.show(console, outcomes)
    summary.show_next(console, output)


@contextmanager
def stderr_to(path: Path) -> Generator[None, None, None]:
    """Redirect the start-up messages of Spark's JVM to a file: Python cannot suppress them."""
    sys.stderr.flush()
    kept = os.dup(2)
    with path.open("wb") as log:
        os.dup2(log.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


if __name__ == "__main__":
    main(sys.argv[1:])
