"""Ends of a stream at the steps of a batch; as a program, one that is killed there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.merging import Merges
from changewire.engines.merge.table import LocalTable

STEPS = {
    "before the log": (LocalLog, "append", True),
    "after the log": (LocalLog, "append", False),
    "before the tables": (Merges, "merge", True),
    "between two tables": (LocalTable, "merge", False),
    "after the tables": (Merges, "merge", False),
    "before the log knows": (LocalLog, "finish", True),
}
"""Steps of a batch: what is called there, and whether the end comes before it."""


def ending_at(step: str, calls: int, end: Callable[[], None]) -> Any:
    """Return a context in which a stream ends at a step, after so many calls that are done."""
    owner, name, is_before = STEPS[step]
    method, left = getattr(owner, name), [calls]

    def ended(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if is_before and left[0] < 0:
            end()
        found = method(*arguments, **options)
        if left[0] < 0:
            end()
        return found

    return patch.object(owner, name, ended)


def kill() -> None:
    """End the process at once, as `kill -9` does."""
    os._exit(9)


if __name__ == "__main__":
    import msgspec

    import changewire.delta as cwd

    topics, options, step, calls = msgspec.json.decode(sys.argv[1])
    with ExitStack() as stack:
        if step:
            stack.enter_context(ending_at(step, calls, kill))
        cwd.stream(topics, **options)
