"""The report of a run, written to files."""

from __future__ import annotations

import json
from pathlib import Path

from changewire.engines.outcome import Outcome
from changewire.report.page import page
from changewire.report.summary import summary


def write(outcome: Outcome) -> None:
    """Write ``report.json`` and ``report.html`` into the output folder of a run.

    Each file is there as a whole or not at all.

    Raises:
        OSError: A file cannot be written.
    """
    report = summary(outcome)
    folder = Path(outcome.output)
    _put(folder / "report.json", json.dumps(report, indent=2) + "\n")
    _put(folder / "report.html", page(report))


def _put(path: Path, text: str) -> None:
    begun = path.with_name(f"_{path.name}.tmp")
    begun.write_text(text, encoding="utf-8", newline="\n")
    begun.replace(path)
