"""Columns of the records that rows are from."""

from __future__ import annotations

import pyarrow as pa
import pytest

from changewire.engines.places import only_where


@pytest.mark.parametrize("kind", [pa.binary(), pa.string()])
def test_values_that_are_left_out_leave_no_bytes(kind: pa.DataType) -> None:
    """What a column no longer has is not sent with it, hidden behind a NULL."""
    long = pa.scalar("a" * 1000).cast(kind).as_py()
    values = pa.array([long, None, long, long], kind)
    found = only_where(pa.array([False, True, True, False]), values)
    assert found.to_pylist() == [None, None, long, None]
    assert found.nbytes < values.nbytes / 2
