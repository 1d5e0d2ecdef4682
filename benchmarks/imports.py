"""How long an import takes, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.tables import Result

_STATEMENTS = {
    "nothing": "pass",
    "msgspec": "import msgspec",
    "changewire": "import changewire",
    "changewire, and one decode": (
        'import changewire as cw; cw.decode(\'{"msg":"delete","key":["n",null,'
        "\"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=\",null]}', format='aerospike-json')"
    ),
    "pydantic": "import pydantic; pydantic.BaseModel",
    "jsonschema": "import jsonschema",
}


def run(*, rounds: int) -> Iterator[Result]:
    """Yield the table of import times: the least of all rounds, less that of an empty program."""
    found: dict[str, list[float]] = {name: [] for name in _STATEMENTS}
    for _ in range(rounds):
        for name, statement in _STATEMENTS.items():
            found[name].append(_seconds(statement))
    nothing = min(found["nothing"])
    rows = [
        (name, f"{(min(times) - nothing) * 1000:.0f}")
        for name, times in found.items()
        if name != "nothing"
    ]
    yield Result("Import", ("", "ms above an empty program"), rows, "", {"seconds": found})


def _seconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)  # noqa: S603 - our own statements
    return time.perf_counter() - start
