"""Steps of a batch, at which a query may be stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from changewire.engines.known import KnownLog
from changewire.engines.spark.log import land
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.merge import batch
from changewire.engines.spark.merge.table import SparkTable


class Step(NamedTuple):
    """A call that every batch makes.

    Attributes:
        owner: Class or module of the function.
        name: Its name.
        is_before: Whether the step is before the call, or after it.
    """

    owner: Any
    name: str
    is_before: bool


STEPS: Final[Mapping[str, Step]] = {
    "after counting": Step(land, "check_dead_letters", is_before=False),
    "before the log": Step(LogPlace, "append", is_before=True),
    "after the log": Step(LogPlace, "append", is_before=False),
    "before a table is made": Step(SparkTable, "make", is_before=True),
    "after a table is made": Step(SparkTable, "make", is_before=False),
    "before a MERGE": Step(SparkTable, "merge", is_before=True),
    "after a MERGE": Step(SparkTable, "merge", is_before=False),
    "before the refused rows": Step(batch, "refused_rows", is_before=True),
    "after the refused rows": Step(KnownLog, "add", is_before=True),
}
"""Steps in their order; after the third, and after the last, Spark commits a batch of a query."""


def stopping_at(name: str, stop: Callable[[], None]) -> AbstractContextManager[object]:
    """Return a context in which a function is called whenever a batch is at a step."""
    step = STEPS[name]
    real: Callable[..., Any] = getattr(step.owner, step.name)

    def called(*arguments: Any, **named: Any) -> Any:
        if step.is_before:
            stop()
        found = real(*arguments, **named)
        if not step.is_before:
            stop()
        return found

    return patch.object(step.owner, step.name, called)
