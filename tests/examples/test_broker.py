"""The broker of the tests goes with whoever started it, and comes back with its data."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from confluent_kafka.admin import AdminClient
from examples.broker import broker, listens
from tests.support.topics import create

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys, time
from pathlib import Path
from examples.broker import broker
with broker(Path(sys.argv[1])) as server:
    print(server, flush=True)
    time.sleep(600)
"""


def test_a_broker_ends_with_its_tests_and_starts_again(tmp_path: Path) -> None:
    """Tests that are killed leave no broker behind; its folder is the same broker, restarted."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as tests:
        assert tests.stdout is not None
        server = tests.stdout.readline().strip()
        create(server, "kept")
        tests.kill()
    end = time.monotonic() + 10
    while listens(server) and time.monotonic() < end:
        time.sleep(0.05)
    assert not listens(server)
    with broker(tmp_path) as again:
        assert again == server
        topics = AdminClient({"bootstrap.servers": again}).list_topics(timeout=20).topics
        assert "kept" in topics
    assert not listens(server)
