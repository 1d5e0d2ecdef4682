"""Columns of one array, of several, and of none."""

from __future__ import annotations

import pyarrow as pa
import pytest

from changewire.engines.arrays import as_array, indices_of


@pytest.mark.parametrize("arrays", [[], [[]], [[True, None]], [[False, True], [], [True]]])
def test_indices_of_values_that_are_true(arrays: list[list[bool | None]]) -> None:
    """They count through all arrays."""
    column = pa.chunked_array(arrays, pa.bool_())
    values = [value for array in arrays for value in array]
    assert as_array(column).to_pylist() == values
    assert indices_of(column) == [number for number, value in enumerate(values) if value]
