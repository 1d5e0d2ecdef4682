"""Generated source through ruff, by the rules that hold for hand-written code."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

# Neither the configuration nor the folders of whoever runs the generator may change what it writes.
RULES = ["--isolated", "--no-cache", "--quiet", "--config=line-length=100", "--config=exclude=[]"]
TARGET = ["--config=target-version='py310'", "--config=src=[]"]
FIXES = "F401,I001,UP034,E701,Q"


def formatted(sources: Mapping[str, str], package: str) -> dict[str, str]:
    """Return modules with unused imports gone, imports sorted, and formatted.

    Args:
        sources: Text of each module by its path.
        package: Import name of the package that they are part of.

    Raises:
        RuntimeError: ruff refused a module; its message is the text.
    """
    own = f"--config=lint.isort.known-first-party={json.dumps([package])}"
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        # One run for all modules: starting ruff takes longer than its work.
        _ruff("check", *RULES, *TARGET, own, "--fix", "--exit-zero", f"--select={FIXES}", folder)
        _ruff("format", *RULES, *TARGET, folder)
        return {name: Path(folder, name).read_bytes().decode() for name in sources}


def _ruff(*arguments: str) -> None:
    command = [sys.executable, "-m", "ruff", *arguments]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own command line
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
