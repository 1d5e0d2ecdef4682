"""``changewire detect``."""

import sys
from collections import Counter
from typing import Annotated

import typer

from changewire.cli.ending import REJECTED, VALID, ending
from changewire.cli.options import Inputs, Json, Shape, StripRegistryPrefix
from changewire.cli.records import place_of, records
from changewire.cli.stderr import counted, say
from changewire.cli.stdout import Lines
from changewire.codec import detect as detect_format

UNKNOWN = "(unknown)"
EMPTY = "(no value)"


@ending
def detect(
    inputs: Inputs = None,
    *,
    each: Annotated[bool, typer.Option("--each", help="Write a line of JSON a message.")] = False,
    as_json: Json = False,
    shape: Shape = "auto",
    strip_registry_prefix: StripRegistryPrefix = False,
) -> int:
    """Count the messages of each format.

    A message of a known format may still be rejected: see `changewire validate`.

    Example: changewire detect topic.jsonl
    """
    lines = Lines()
    counts: Counter[str] = Counter()
    for record in records(inputs, shape, strip_registry_prefix=strip_registry_prefix):
        found = None if record.value is None else detect_format(record.value)
        counts[EMPTY if record.value is None else found or UNKNOWN] += 1
        if each:
            lines.write(place_of(record.position), {"format": found})
    if as_json and not each:
        unknown, empty = counts.pop(UNKNOWN, 0), counts.pop(EMPTY, 0)
        formats = dict(sorted(counts.items()))
        lines.write({"formats": formats, "unknown": unknown, "no_value": empty})
        return REJECTED if unknown else VALID
    if not each:
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            sys.stdout.write(f"{count:>10}  {name}\n")
    say(counted(counts.total(), "message"))
    return REJECTED if counts[UNKNOWN] else VALID
