"""The outcome of a run over hostile messages."""

from __future__ import annotations

from typing import Any

import pytest

from changewire.engines.counts import Counts
from changewire.engines.outcome import Outcome

HOSTILE = (
    "<script>alert(1)</script>",
    r"$\frac{1}{0}$",
    "]]>",
    "--><img src=x onerror=alert(1)>",
    "'\"><a href='https://evil.example/'>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe",
    "שלום",
    "طاولة",
    "用户",
    "two\nlines\r\x00\x1b[31m",
    "\ud800",
    "&lt;b&gt;",
    "x" * 10_000,
)
"""Names that break a page, a chart or a terminal where they are not escaped."""


@pytest.fixture
def hostile() -> Outcome:
    """An outcome in which every text that messages can influence is hostile."""
    counts = Counts(messages=len(HOSTILE), elements=2 * len(HOSTILE))
    letters: list[dict[str, Any]] = []
    for i, name in enumerate(HOSTILE):
        for counter in (
            counts.by_operation,
            counts.by_table,
            counts.by_error_code,
            counts.leniencies,
        ):
            counter[name] = i + 1
        counts.by_hour[f"2026-01-02 {i:02}:00"] = i
        letter: dict[str, Any] = dict.fromkeys(
            ("path", "topic", "code", "pointer", "message"), name
        )
        letter |= {"number": i, "partition": 0, "offset": i, "element": i}
        letters.append({**letter, "value": name.encode("utf-8", "surrogatepass")})
    return Outcome(
        counts=counts,
        format="aerospike-json",
        inputs=list(HOSTILE),
        output=HOSTILE[0],
        engine="python 3",
        seconds=1.5,
        first_dead_letters=letters,
        tables={"inserted": 12, "truncates_not_applied": 3, HOSTILE[0]: 1},
    )
