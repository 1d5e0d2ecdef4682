"""How many messages each format has."""

import sys
from collections import Counter
from collections.abc import Iterable

from changewire.cli.ending import REJECTED, VALID
from changewire.cli.stderr import counted, say
from changewire.cli.stdout import Lines
from changewire.codec import detect
from changewire.framing import Record

_UNKNOWN = "(unknown)"
_EMPTY = "(no value)"


def count_formats(records: Iterable[Record], *, as_json: bool) -> int:
    """Write how many messages have each format; the exit code is 1 if one has none."""
    counts: Counter[str] = Counter()
    for record in records:
        found = _EMPTY if record.value is None else detect(record.value) or _UNKNOWN
        counts[found] += 1
    if as_json:
        unknown, empty = counts.pop(_UNKNOWN, 0), counts.pop(_EMPTY, 0)
        formats = dict(sorted(counts.items()))
        Lines().write({"formats": formats, "unknown": unknown, "no_value": empty})
        return REJECTED if unknown else VALID
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        sys.stdout.write(f"{count:>10}  {name}\n")
    say(counted(counts.total(), "message"))
    return REJECTED if counts[_UNKNOWN] else VALID
