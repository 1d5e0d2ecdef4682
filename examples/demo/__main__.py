"""Show what changewire does: messages of every format become a log, and nothing is lost.

``nox -s demo`` runs this, or ``python -m examples.demo [FOLDER]`` where changewire is installed.
Logs and reports are written to the folder, or to ``build/demo/`` below the working directory.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from examples.demo import changes, dead_letters, mixed, summary
from examples.demo.outputs import FORMATS, INPUTS
from rich.console import Console

from changewire.engines.outcome import Outcome
from changewire.job import run

OUTPUT: Final = Path("build", "demo")
_WIDTH: Final = 100


def main(arguments: Sequence[str]) -> None:
    """Run the main job on the examples of each format and show the results."""
    output = Path(arguments[0]) if arguments else OUTPUT
    output.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    console.width = min(console.width, _WIDTH)
    outcomes: dict[str, Outcome] = {}
    with console.status("Starting …") as status:
        for folder, name in FORMATS.items():
            status.update(f"Reading {folder} …")
            inputs, place = [str(INPUTS / folder)], str(output / folder)
            outcomes[folder] = run(inputs, place, format=name)
    summary.show(console, outcomes)
    changes.show(console, outcomes)
    mixed.show(console, outcomes["mixed"])
    dead_letters.show(console, outcomes)
    summary.show_next(console, output)


if __name__ == "__main__":
    main(sys.argv[1:])
