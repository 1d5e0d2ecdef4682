"""Where the time of the engines goes: each stage on top of those before it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import orjson
import pyarrow as pa
from examples.making.history import history
from examples.making.rows import SETS
from examples.making.shapes import text

import changewire as cw
from benchmarks.messages import FORMAT
from benchmarks.tables import Result, timed
from benchmarks.timing import Action, Timing, compare
from changewire.changes import change_row
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import PART, Decoder

PARSED = "orjson (parse only)"


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield the table of stages, a message of the examples at a time."""
    values = messages()
    found = compare(stages(values), rounds=rounds, seconds=seconds)
    each = {
        name: Timing(tuple(one / len(values) for one in timing.rounds))
        for name, timing in found.items()
    }
    mean = sum(map(len, values)) // len(values)
    yield timed(f"Stages of the engines, a message of {mean} bytes on average", each, PARSED)


def messages() -> list[bytes]:
    """Return as many messages of the examples, of all sets, as the engines take at a time."""
    rng = Random(1)
    found = [text(message) for name in SETS for message in history(rng, name, PART)]
    return rng.sample(found, PART)


def stages(values: list[bytes]) -> dict[str, Action]:
    """Return the stages by name; what a stage makes is kept until the next call, as in a run."""
    options = DecodeOptions(FORMAT)
    codec, decoder = cw.codec(FORMAT), Decoder(options)
    batch = pa.RecordBatch.from_pydict({"value": pa.array(values, pa.binary())})

    def row(model: object) -> object:
        return change_row(model, None, options)

    def decode() -> object:
        return [codec.decode(value) for value in values]

    def change() -> object:
        return [row(codec.decode(value)) for value in values]

    def tolerate() -> object:
        models = [codec.decode(value) for value in values]
        return [(row(model), codec.leniencies(model)) for model in models]

    return {
        PARSED: lambda: [orjson.loads(value) for value in values],
        "decode": decode,
        "and change": change,
        "and leniencies": tolerate,
        "and Arrow columns": lambda: list(decoder(batch)),
    }
