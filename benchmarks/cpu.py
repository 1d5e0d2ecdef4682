"""CPU time of a program and of all that it started."""

from __future__ import annotations

from contextlib import suppress

import psutil


def cpu_seconds() -> float:
    """Return the CPU time of this program, its JVM and its Python workers, in seconds."""
    total, this = 0.0, psutil.Process()
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
            # Of children that have ended: workers are those of Spark's daemon.
            total += times.children_user + times.children_system
    return total
