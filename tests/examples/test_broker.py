"""The broker of the tests goes with whoever started it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from examples.broker import listens

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys, time
from pathlib import Path
from examples.broker import broker
with broker(Path(sys.argv[1])) as server:
    print(server, flush=True)
    time.sleep(600)
"""


def test_a_broker_ends_with_its_tests(tmp_path: Path) -> None:
    """Tests that are killed leave no broker behind."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as tests:
        assert tests.stdout is not None
        server = tests.stdout.readline().strip()
        assert listens(server)
        tests.kill()
    end = time.monotonic() + 10
    while listens(server) and time.monotonic() < end:
        time.sleep(0.05)
    assert not listens(server)
