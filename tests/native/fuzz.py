"""A long search for a message that the kernel reads otherwise than Python.

``python -m tests.native.fuzz SECONDS [SEED]`` damages examples and corpus, batch after batch,
draws keys and rows of a log, and ends with the first difference; `nox -s native_fuzz -- SECONDS`
runs it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from random import Random

from tests.native.differential import FORMATS, batch_of, compared
from tests.native.fit_texts import drawn as drawn_changes
from tests.native.mutants import damaged
from tests.native.test_auto import CASES as AUTO_CASES
from tests.native.test_carried import changes as rows_of_a_log
from tests.native.test_carried import compared as compared_carried
from tests.native.test_differential import CASES, examples
from tests.native.test_fit import compared as compared_fit
from tests.native.test_typed import drawn, fitting
from tests.runtime.engines.any_messages import captured

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.spark.types import struct_columns
from changewire.engines.spark.variant import VariantDecoder
from changewire.engines.typed.decode import TypedDecoder

_BATCH = 4_000
_CHANGES = 200
_LONG = 2_000
"""Bytes of a message that is damaged at most."""


def decoder(options: DecodeOptions, format: str, seed: int) -> Decoder:
    """Return a decoder of one kind after the other, for messages of a format."""
    row = fitting(format) if seed % 3 else drawn(format, seed)
    kinds: list[Callable[[], Decoder]] = [
        lambda: Decoder(options),
        lambda: VariantDecoder(options),
        lambda: TypedDecoder(options, struct_columns(row)),
    ]
    return kinds[seed % len(kinds)]()


def main() -> int:
    """Search for some seconds, and print how many messages were compared."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    ends = time.monotonic() + seconds
    found: Counter[str] = Counter()
    cases = [*CASES, *AUTO_CASES]
    seed = first
    while time.monotonic() < ends:
        options = cases[seed % len(cases)]
        name = FORMATS[seed % len(FORMATS)] if options.format == "auto" else options.format
        records = examples(name)
        values = [value for value, _ in records if value] + captured(name)
        keys = [key for _, key in records]
        pool = [value for value in values if len(value) < _LONG]
        batch = batch_of(damaged(name, pool, _BATCH, seed), (keys * _BATCH)[:_BATCH])
        result = compared(batch, decoder(options, name, seed))
        found["messages"] += result.messages
        found["by the kernel"] += result.messages - result.declined
        changes = compared_fit(drawn_changes(Random(seed), _CHANGES))  # noqa: S311 - no secret
        found["changes that fit"] += changes.fitting
        found["of these by the kernel"] += changes.made
        shown = compared_carried(rows_of_a_log(Random(seed), _CHANGES))  # noqa: S311 - no secret
        found["rows whose types the kernel shows"] += shown
        seed += 1
    print(", ".join(f"{number:,} {name}" for name, number in found.items()), f"seeds before {seed}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
