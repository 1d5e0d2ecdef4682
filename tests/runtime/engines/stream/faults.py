"""Ends of a query at the steps of a batch; as a program, one that kills the driver."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.runtime.engines.stream.streams import Stream

from changewire.engines.spark.log.place import LogPlace

STEPS = ("before the log", "after the log")
"""Steps of a batch; after its last one Spark commits it in the checkpoint."""


def ending_at(step: str, end: Callable[[], None]) -> Any:
    """Return a context in which the writing of a batch ends at a step."""
    append = LogPlace.append

    def appended(place: LogPlace, rows: Any, query: str, batch: int) -> None:
        if step == "before the log":
            end()
        append(place, rows, query, batch)
        end()

    return patch.object(LogPlace, "append", appended)


def kill() -> None:
    """End the process at once, as `kill -9` does."""
    os._exit(9)


if __name__ == "__main__":
    from tests.support.session import INTERPRETED, SPARING, settings

    import changewire.spark as cws

    quick = {**SPARING, **INTERPRETED}
    session = cws.session({**settings(Path(sys.argv[1], "warehouse")), **quick})
    with ending_at(sys.argv[2], kill):
        Stream(Path(sys.argv[1])).land(session)
