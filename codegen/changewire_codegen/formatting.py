"""Generated source through ruff, by the rules that hold for hand-written code."""

from __future__ import annotations

import subprocess
import sys

RULES = ["--isolated", "--line-length=100", "--target-version=py310"]
FIXES = "F401,I001,UP034,E701,Q"


def formatted(source: str) -> str:
    """Return source with unused imports gone, imports sorted, and formatted.

    Raises:
        RuntimeError: ruff refused the source; its message is the text.
    """
    ruff = [sys.executable, "-m", "ruff"]
    fix = [*ruff, "check", *RULES, "--fix", "--exit-zero", "--quiet", f"--select={FIXES}", "-"]
    return _run([*ruff, "format", *RULES, "-"], _run(fix, source))


def _run(command: list[str], source: str) -> str:
    done = subprocess.run(command, input=source.encode(), capture_output=True, check=False)  # noqa: S603 - our own command line
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return done.stdout.decode()
