"""Small files that inflate to large ones."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable

import pytest

from changewire.framing import FramingError, read

LIMIT = 2**20
INFLATED = 64 * LIMIT


@pytest.mark.parametrize("shape", ["json-lines", "json-array", "json-concatenated"])
def test_a_bomb_is_ended_at_the_limit(write: Callable[..., str], shape: str) -> None:
    """A record that never ends takes the memory of the limit, and not of what it inflates to."""
    begun = b'["' if shape == "json-array" else b'"'
    path = write(gzip.compress(begun + b"a" * INFLATED, compresslevel=1))
    tracemalloc.start()
    try:
        with pytest.raises(FramingError, match="longer than"):
            list(read(path, shape=shape, max_record_bytes=LIMIT))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < INFLATED / 4
