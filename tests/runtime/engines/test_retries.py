"""What is written although other writers come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple
from unittest.mock import patch

import pytest

from changewire.engines import retries
from changewire.engines.errors import ConflictError
from changewire.engines.retries import WriteConflictError, Written, retried, write_until_final


class Found(NamedTuple):
    """What was decided."""

    counts: Counter[str]


FIRST, AGAIN = Found(Counter(applied=1)), Found(Counter(duplicate=1))
PARTLY, SEEN, FINAL = Written(False, False), Written(True, False), Written(True, True)  # noqa: FBT003


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with patch.object(retries, "sleep"):
        yield


@pytest.mark.parametrize(
    ("attempts", "counts"),
    [
        ([FINAL], FIRST.counts),
        ([SEEN, FINAL], FIRST.counts),  # what came between has not changed what became of them
        ([PARTLY, FINAL], AGAIN.counts),
        ([WriteConflictError(), FINAL], AGAIN.counts),
    ],
)
def test_counts_are_of_the_decisions_that_were_written(
    attempts: list[Written | WriteConflictError], counts: Counter[str]
) -> None:
    """They are those of the first decisions that were written as a whole."""
    left = iter(attempts)

    def write(decided: Found) -> Written:
        assert decided in (FIRST, AGAIN)
        attempt = next(left)
        if isinstance(attempt, WriteConflictError):
            raise attempt
        return attempt

    assert write_until_final("t", FIRST, decide=lambda: AGAIN, write=write) == counts


def test_other_writers_end_it_at_last() -> None:
    """The error names the table."""

    def busy() -> Found:
        raise WriteConflictError

    with pytest.raises(ConflictError, match="t: other writers changed it 6 times"):
        retried("t", busy)
    with pytest.raises(ConflictError, match="t: other writers changed it 6 times"):
        write_until_final("t", None, decide=busy, write=lambda _: FINAL)
