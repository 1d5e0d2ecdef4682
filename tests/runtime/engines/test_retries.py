"""What is written although other writers come first."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from changewire.engines import retries
from changewire.engines.errors import ConflictError
from changewire.engines.retries import WriteConflictError, retried


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with patch.object(retries, "sleep"):
        yield


def test_what_was_done_is_returned() -> None:
    """An action is done again until no other writer comes first."""
    attempts: list[WriteConflictError | int] = [WriteConflictError(), WriteConflictError(), 3]
    left = iter(attempts)

    def act() -> int:
        found = next(left)
        if isinstance(found, int):
            return found
        raise found

    assert retried("t", act) == 3


def test_other_writers_end_it_at_last() -> None:
    """The error names the table."""

    def busy() -> None:
        raise WriteConflictError

    with pytest.raises(ConflictError, match="t: other writers changed it 6 times"):
        retried("t", busy)
