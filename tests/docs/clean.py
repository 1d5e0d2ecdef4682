"""Follow pages in clean environments, by their own commands: python -m tests.docs.clean FOLDER.

The folder gets a link to this clone. Each page begins with its own command that installs the clone,
and what its blocks show is compared by other tests; here they run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.docs.pages import ROOT, all_blocks

PAGES: Final = ("docs/tutorial/first-table.md",)

_DRIVER: Final = """
import json, subprocess, sys
names = {}
for language, code in json.load(sys.stdin):
    print(code, flush=True)
    if language == "python":
        exec(code, names)
    elif subprocess.run(["bash", "-c", code]).returncode > 1:
        sys.exit("failed: " + code)
"""
"""Runs blocks by the Python of the environment, whose state they share."""


def follow(page: str, folder: Path) -> None:
    """Install as a page says, in a new folder next to the clone, and run its other blocks."""
    folder.mkdir(parents=True)
    folder.joinpath("changewire").symlink_to(ROOT)
    steps: list[tuple[str, str]] = []
    for block in all_blocks(page):
        if block.language == "console":
            lines = [line for line in block.code.splitlines() if line.startswith("$ ")]
            steps += [("console", line.removeprefix("$ ")) for line in lines]
        elif block.language in {"python", "sh"}:
            steps.append((block.language, block.code))
    (_, environment), (_, install), *rest = steps
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        ["bash", "-ec", f"{environment}\n{install}\npython -c '{_DRIVER}'"],  # noqa: S607 - the system's own
        cwd=folder,
        env=variables,
        check=True,
        input=json.dumps(rest),
        encoding="utf-8",
    )


if __name__ == "__main__":
    for number, name in enumerate(PAGES):
        follow(name, Path(sys.argv[1], str(number)))
