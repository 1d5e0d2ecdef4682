"""What an instrumented kernel reads, so that the compiler knows what messages make it do.

``maturin build --pgo`` runs it; it needs the package changewire, pyarrow and the examples.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrow.messages import opener
from changewire.engines.native import kernel_of
from changewire.engines.typed.decode import TypedDecoder

EXAMPLES = Path(__file__).parents[1] / "examples"
ROUNDS = (25, 5)
"""How often messages become each kind of rows."""

LONGEST = 20_000
"""Bytes of a message at most: a few long ones would be most of the work."""

OPTIONS = [
    DecodeOptions("aerospike-json"),
    DecodeOptions("aerospike-msgpack"),
    DecodeOptions("dataworks-json"),
    DecodeOptions("lindorm-json"),
    DecodeOptions("lindorm-json", key_columns=["id"]),
]
COLUMNS = pa.schema({"id": pa.int64(), "name": pa.string(), "amount": pa.float64()})


def batches(format: str) -> list[pa.RecordBatch]:
    """Return the messages of the examples of a format."""
    found: list[pa.RecordBatch] = []
    for file in sorted((EXAMPLES / format.replace("-", "_")).iterdir()):
        read, _ = opener(str(file), "auto")
        for batch in read():
            size = pc.fill_null(pc.binary_length(batch.column("value")), 0)
            found.append(batch.filter(pc.less(size, LONGEST)))
    return found


def main() -> None:
    """Decode all examples to rows of JSON text, mostly, and to columns of a type."""
    for options in OPTIONS:
        all_batches = batches(options.format)
        kernels = [kernel_of(options), TypedDecoder(options, COLUMNS).kernel]
        for rounds, kernel in zip(ROUNDS, kernels, strict=True):
            if kernel is None:
                raise SystemExit(f"the kernel does not read {options.format}")
            for batch in all_batches * rounds:
                kernel.decode(batch)


if __name__ == "__main__":
    main()
