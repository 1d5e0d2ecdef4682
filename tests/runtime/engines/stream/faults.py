"""Ends of a query at the steps of a batch; as a program, one that kills the driver."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.runtime.engines.stream.streams import Stream

from changewire.engines.layout import OUTPUTS
from changewire.engines.spark.stream import batch as batches
from changewire.engines.spark.stream.output import APPENDS

STEPS = ("counted", *(f"{when} {name}" for name in OUTPUTS for when in ("before", "after")))
"""Steps of a batch; after its last one Spark commits it in the checkpoint."""


def ending_at(step: str, sink: str, end: Callable[[], None]) -> Any:
    """Return a context in which the writing of a batch ends at a step."""
    check, append = batches.check_dead_letters, APPENDS[sink]

    def appended(rows: Any, output: Any, batch: Any) -> None:
        if step == f"before {output.name}":
            end()
        append(rows, output, batch)
        if step == f"after {output.name}":
            end()

    def checked(*arguments: Any) -> None:
        check(*arguments)
        end()

    if step == "counted":
        return patch.object(batches, "check_dead_letters", checked)
    return patch.dict(APPENDS, {sink: appended})


def kill() -> None:
    """End the process at once, as `kill -9` does."""
    os._exit(9)


if __name__ == "__main__":
    from tests.support.session import settings

    import changewire.spark as cws

    session = cws.session(settings(Path(sys.argv[1], "warehouse")))
    with ending_at(sys.argv[3], sys.argv[2], kill):
        Stream(Path(sys.argv[1]), sys.argv[2]).land(session)
