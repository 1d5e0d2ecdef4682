"""What a worker does to a batch of messages, with the native kernel and without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgpack
import orjson
import pyarrow as pa

from benchmarks.tables import Result, timed
from benchmarks.timing import Action, Timing, compare
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.vendors import BUILT_IN
from changewire.codec import DecodeError, codec
from changewire.engines.arrow.messages import opener
from changewire.engines.decode import Decoder
from changewire.engines.native import NATIVE_PART, Kernel

PARSED = "parsed only, to dictionaries"
PYTHON, KERNEL = "changewire, without the kernel", "changewire, with the kernel"
PYTHON_READ = f"{PYTHON}, messages that it reads"
KERNEL_READ = f"{KERNEL}, messages that it reads"
LEAST = 6
"""Times the rate without the kernel that is to be reached."""

_EXAMPLES = Path(__file__).parents[1] / "examples"
_LONGEST = 20_000
"""Bytes of a message at most: a few long ones would be most of a batch."""


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield a table for each format, of the messages of its examples, broken ones among them."""
    for name in sorted(BUILT_IN):
        decoder = Decoder(DecodeOptions(name, key_columns=["id"] if "lindorm" in name else None))
        kernel = decoder.kernel
        if kernel is None:
            raise SystemExit("the native kernel is not installed: nox -s bench builds it")
        yield _of_format(decoder, kernel, _messages(name), rounds=rounds, seconds=seconds)


def _of_format(
    decoder: Decoder, kernel: Kernel, values: list[bytes], *, rounds: int, seconds: float
) -> Result:
    name = decoder.decode_options.format
    batch = pa.RecordBatch.from_pydict({"value": pa.array(values, pa.binary())})
    declined = set(kernel.decode(batch).declined.to_pylist())
    read = batch.take([place for place in range(len(batch)) if place not in declined])
    plain = Decoder(decoder.decode_options)
    vars(plain)["kernel"] = None
    parse = _unpacked if "msgpack" in name else orjson.loads
    good = [value for value in values if _is_good(name, value)]
    actions: dict[str, Action] = {
        PARSED: lambda: [parse(value) for value in good],
        PYTHON: lambda: list(plain(batch)),
        KERNEL: lambda: list(decoder(batch)),
        PYTHON_READ: lambda: list(plain(read)),
        KERNEL_READ: lambda: list(decoder(read)),
    }
    found = compare(actions, rounds=rounds, seconds=seconds)
    counts = {PARSED: len(good), PYTHON_READ: len(read), KERNEL_READ: len(read)}
    each = {
        what: Timing(tuple(one / counts.get(what, len(values)) for one in timing.rounds))
        for what, timing in found.items()
    }
    share = len(declined) / len(values)
    mean = sum(map(len, values)) // len(values)
    ratio = each[PYTHON].best / each[KERNEL].best
    word = "reached" if ratio >= LEAST else "missed"
    text = f"To reach: {LEAST} times the rate without the kernel. Found {ratio:.1f}: {word}."
    alone = each[PYTHON_READ].best / each[KERNEL_READ].best
    text += f" The kernel left {share:.1%} of the messages to Python; of the others alone it is"
    text += f" {alone:.1f}."
    return timed(f"{name}: messages to columns ({mean} bytes on average)", each, PYTHON, text)


def _unpacked(value: bytes) -> object:
    return msgpack.unpackb(value, strict_map_key=False)


def _is_good(format: str, value: bytes) -> bool:
    try:
        codec(format).decode(value)
    except DecodeError:
        return False
    return True


def _messages(format: str) -> list[bytes]:
    """Return a batch of messages of the examples, in any order."""
    found: list[bytes] = []
    for file in sorted((_EXAMPLES / format.replace("-", "_")).iterdir()):
        read, _ = opener(str(file), "auto")
        found += [value for batch in read() for value in batch.column("value").to_pylist() if value]
    short = [value for value in found if len(value) <= _LONGEST]
    draw = Random(1)
    return [draw.choice(short) for _ in range(NATIVE_PART)]
