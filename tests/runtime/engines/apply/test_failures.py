"""Values that no Arrow column can hold concern their own changes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from changewire.engines.typed.fitted import built
from changewire.tables.routing import Refusal

STEP = "fitting the row to its table"
EARLIER = Refusal("wrong-type", "/after/a", "expected bigint")


def test_a_value_that_arrow_refuses_fails_alone() -> None:
    """It is NULL, and its failure names the exception; others stay, and so do earlier failures."""
    failures: list[Any] = [None, None, EARLIER, None]
    found = built([1, "secret", "text", None], pa.int64(), failures, STEP)
    assert found.to_pylist() == [1, None, None, None]
    assert failures == [
        None,
        Refusal("apply-failed", "/after", f"{STEP} raised ArrowInvalid"),
        EARLIER,
        None,
    ]


def test_values_that_fit_have_no_failure() -> None:
    """No failure is added."""
    failures: list[Any] = [None, None]
    assert built([1, None], pa.int64(), failures, STEP).to_pylist() == [1, None]
    assert failures == [None, None]
