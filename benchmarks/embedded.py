"""What it costs to read rows by the schema that a message of Lindorm holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import pyarrow as pa

import changewire as cw
from benchmarks import topics
from benchmarks.tables import Result, timed
from benchmarks.timing import Action, Timing, compare
from changewire.changes import change_row
from changewire.engines.decode import PART
from changewire.engines.elements import Elements, columns

FORMAT = "lindorm-json"
WITHOUT, WITH = "values as JSON has them", "values as the schema says"
LEAST = 0.75
"""At least so much of the rate without looking at the schema."""


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield a table for changes alone, and one for all that a worker does."""
    values = messages(PART)
    for title, found in (("decode and change", changes(values)), ("a worker", rows(values))):
        timings = {
            name: Timing(tuple(one / len(values) for one in timing.rounds))
            for name, timing in compare(found, rounds=rounds, seconds=seconds).items()
        }
        rate = timings[WITHOUT].ratio(timings[WITH])[0]
        word = "reached" if rate >= LEAST else "missed"
        text = f"To reach: at least {LEAST} of the rate without. Found {rate:.2f}: {word}."
        size = sum(map(len, values)) // len(values)
        yield timed(f"An embedded schema, {title} ({size} bytes)", timings, WITHOUT, text)


def messages(count: int) -> list[bytes]:
    """Return messages that all hold the schema of their row."""
    found: list[bytes] = topics.table(topics.WITH_SCHEMA, count)["value"].to_pylist()
    return found


def changes(values: list[bytes], change: Callable[[Any], Any] = cw.changes) -> dict[str, Action]:
    """Return what makes changes of messages, with and without a look at the schema."""
    decode = cw.codec(FORMAT).decode
    bare = [_without_schema(decode(value)) for value in values]
    return {
        WITHOUT: lambda: [(decode(v), change(m)) for v, m in zip(values, bare, strict=True)],
        WITH: lambda: [(m := decode(v), change(m)) for v in values],
    }


def rows(values: list[bytes]) -> dict[str, Action]:
    """Return what a worker does with messages, up to Arrow columns."""
    options = cw.DecodeOptions(FORMAT)
    made = changes(values, partial(change_row, record_key=None, options=options))
    batch = pa.RecordBatch.from_pydict({"value": pa.array(values, pa.binary())})

    def build(action: Action) -> object:
        found: Any = action()
        return columns(batch, Elements([(change, []) for _, change in found]), None)

    return {name: partial(build, action) for name, action in made.items()}


def _without_schema(model: Any) -> Any:
    return msgspec.structs.replace(model, schema_text=msgspec.UNSET)
