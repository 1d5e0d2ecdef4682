"""Rows with the kernel beside rows without it: equal by value and by text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from changewire.changes.decode_options import DecodeOptions
from changewire.changes.vendors import BUILT_IN
from changewire.engines.decode import Decoder
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.native import Kernel, installed, kernel_of, misfit

needs_kernel = pytest.mark.skipif(
    installed() is None,
    reason=f"the native kernel is not built, or {misfit()}",
)

FORMATS = tuple(BUILT_IN)
"""Formats that the kernel reads."""


@dataclass
class Compared:
    """What a comparison found.

    Attributes:
        messages: How many messages there were.
        declined: How many of them the kernel declined.
    """

    messages: int
    declined: int

    @property
    def share(self) -> float:
        """Share of the messages that the kernel decoded."""
        return 1 - self.declined / max(self.messages, 1)


def kernel(options: DecodeOptions) -> Kernel:
    """Return the kernel for a way to read messages; it must be there."""
    found = kernel_of(options)
    assert found is not None, f"no kernel for {options}"
    return found


def batch_of(
    values: Iterable[bytes | None], keys: Sequence[bytes | None] | None = None
) -> pa.RecordBatch:
    """Return a batch of messages, as engines read them."""
    column = pa.array([*values], INPUT_COLUMNS["value"])
    columns = {"value": column, "offset": pa.array(range(len(column)), pa.int64())}
    if keys is not None:
        columns["key"] = pa.array(keys, INPUT_COLUMNS["key"])
    return pa.RecordBatch.from_pydict(columns)


def rows(batch: pa.RecordBatch, decoder: Decoder, kernel: Kernel | None) -> pa.Table:
    """Return what becomes of a batch, by a kernel or without one."""
    vars(decoder)["kernel"] = kernel
    return pa.Table.from_batches([*decoder(batch)], decoder.schema())


def compare(batch: pa.RecordBatch, options: DecodeOptions) -> Compared:
    """Check that rows are the same with the kernel and without it."""
    return compared(batch, Decoder(options))


def compared(batch: pa.RecordBatch, decoder: Decoder) -> Compared:
    """Check that a decoder makes the same rows with its kernel, which must be there."""
    native = decoder.kernel
    assert native is not None, f"no kernel for {decoder.decode_options}"
    before = native.counts
    found = rows(batch, decoder, native)
    after = native.counts
    expected = rows(batch, decoder, None)
    vars(decoder)["kernel"] = native
    assert found.schema == expected.schema
    if not found.equals(expected):
        differences = [*_differences(found.to_pylist(), expected.to_pylist(), batch)]
        assert not differences, "\n".join(differences[:5])
    found.validate(full=True)
    return Compared(len(batch), after.declined - before.declined)


def _differences(found: list[Any], expected: list[Any], batch: pa.RecordBatch) -> Iterable[str]:
    if len(found) != len(expected):
        yield f"{len(found)} rows, not {len(expected)}"
    for one, other in zip(found, expected, strict=False):
        for name, value in one.items():
            if repr(value) != repr(other[name]):  # NaN is like NaN
                message = batch.column("value")[one["offset"]].as_py()
                yield f"{name}: {value!r}, not {other[name]!r}, of {message!r}"
