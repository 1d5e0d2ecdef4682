"""Results as tables: Markdown for people, JSON for what draws plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import Timing

MICROSECONDS = 1e6


@dataclass(frozen=True)
class Result:
    """One table.

    Attributes:
        title: What was measured.
        head: Names of the columns.
        rows: Cells, as text.
        target: What was to be reached, and what was found; empty where nothing was set.
        data: The figures behind the cells.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    target: str
    data: Mapping[str, Any]

    def markdown(self) -> str:
        """Return the table, its title and its target as Markdown."""
        lines = [f"### {self.title}", "", _line(self.head), _line(["---"] * len(self.head))]
        lines += [_line(row) for row in self.rows]
        return "\n".join([*lines, *(["", self.target] if self.target else []), ""])


def timed(title: str, timings: Mapping[str, Timing], base: str, target: str = "") -> Result:
    """Return the table of timings, each with its ratio to ``base``."""
    rows = []
    for name, timing in timings.items():
        ratio, low, high = timing.ratio(timings[base])
        rows.append(
            (name, f"{timing.best * MICROSECONDS:.2f}", f"{ratio:.2f}", f"{low:.2f}-{high:.2f}")
        )
    data = {name: [float(f"{s:.4g}") for s in t.rounds] for name, t in timings.items()}
    head = ("", "least, µs", f"ratio to {base}", "spread over rounds")
    return Result(title, head, rows, target, {"base": base, "seconds": data})


def verdict(text: str, found: float, most: float) -> str:
    """Return a sentence on a ratio that was to be at most so large."""
    word = "reached" if found <= most else "missed"
    return f"To reach: {text} at most {most:g}. Found {found:.2f}: {word}."


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
