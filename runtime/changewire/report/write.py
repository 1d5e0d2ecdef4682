"""The report of a run: ``report.json`` for programs, and ``report.html``, its page."""

import json
import os
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from changewire.engines.by_table import FirstRefusal, TableChanges, Unmatched
from changewire.engines.errors import naming
from changewire.engines.options import LOG
from changewire.engines.outcome import PLACE_COLUMNS, Outcome
from changewire.report.page import page
from changewire.report.text import NAME, SENTENCE, excerpt, visible
from changewire.version import VERSION

_VALUE: Final = 200
"""Characters of a rejected message that are shown if values are asked for."""

_COLUMNS: Final = 10
"""Columns of a key that are named at most."""


def write(outcome: Outcome, folder: Path | None = None) -> None:
    """Write ``report.html`` and ``report.json``, each as a whole or not at all.

    Args:
        outcome: What they report.
        folder: Where to write them; None for the output folder of the run.

    Raises:
        OSError: A file cannot be written.
    """
    report = summary(outcome)
    folder = folder or Path(outcome.output)
    _put(folder / "report.html", page(report))
    _put(folder / "report.json", json.dumps(report, indent=2) + "\n")


def summary(outcome: Outcome) -> dict[str, Any]:
    """Return the content of ``report.json``.

    Counts are whole numbers, durations seconds. Names and texts that came with messages are
    shortened, and what does not print in them is escaped.
    """
    counts = outcome.counts.as_dict()
    for name in outcome.counts.maps:
        counts[name] = _named(counts[name])
    alikes, command = outcome.look_alikes, next_command(outcome)
    return {
        "version": VERSION,
        "format": outcome.format,
        "engine": outcome.engine,
        "input": [visible(path, SENTENCE) for path in outcome.inputs],
        "output": visible(os.fspath(outcome.output), SENTENCE),
        "seconds": round(outcome.seconds, 3),
        "start_seconds": round(outcome.start_seconds, 3),
        "read_seconds": round(outcome.read_seconds, 3),
        "messages_per_second": round(outcome.messages_per_second, 1),
        **counts,
        "first_dead_letters": [_letter(letter) for letter in outcome.first_dead_letters],
        **({} if alikes is None else {"look_alikes": alikes._asdict()}),
        **({} if outcome.native is None else {"native": outcome.native._asdict()}),
        **({} if outcome.stream is None else {"stream": asdict(outcome.stream)}),
        **({} if outcome.tables is None else _tables(outcome)),
        **({"unmatched": [*map(_unmatched, outcome.unmatched)]} if outcome.unmatched else {}),
        **({} if command is None else {"next_command": command}),
        **({"already_in_log": outcome.already_in_log} if outcome.already_in_log else {}),
    }


def next_command(outcome: Outcome) -> str | None:
    """Return the command that shows what did not get through; None if everything did.

    It reads logs that are folders, and not those of Iceberg.
    """
    is_refused = bool((outcome.tables or {}).get("refused"))
    if not (is_refused or outcome.counts.dead_letters) or not Path(outcome.output, LOG).is_dir():
        return None
    output = shlex.quote(os.fspath(outcome.output))
    return f"changewire dead-letters {output}{' --refused' if is_refused else ''}"


def override(table: str, rescued: Mapping[str, int]) -> str | None:
    """Return the option by which a column takes every value; None if no name can be written so.

    It is of the column of which most values were rescued.
    """
    for column in sorted(rescued, key=lambda name: (-rescued[name], name)):
        named = f"{table}.{column}"
        is_plain = "." not in column and visible(named, NAME) == named
        if is_plain and not {*"=*?/"} & {*named}:
            return f"--column {shlex.quote(f'{named}=string')}"
    return None


def _unmatched(found: Unmatched) -> dict[str, Any]:
    named = {"names": found.names, "tables": found.tables}
    shown = {key: [visible(name, NAME) for name in names] for key, names in named.items()}
    return {"option": found.option, **shown}


def _tables(outcome: Outcome) -> dict[str, Any]:
    """Return what became of changes: in all tables, and by table."""
    by_table = outcome.changes_by_table.renamed(lambda name: visible(name, NAME))
    worst = sorted(by_table.items(), key=lambda one: (-one[1].unapplied, one[0]))
    return {
        "tables": dict(outcome.tables or {}),
        "changes_by_table": {name: _changes(name, found) for name, found in worst},
    }


def _changes(name: str, found: TableChanges) -> dict[str, Any]:
    first, numbers = found.first_refusal, found.numbers()
    if found.rescued:
        numbers["rescued"] = dict(Counter(_named(found.rescued)).most_common())
        numbers["override"] = override(name, found.rescued)
    numbers = {"changes": 0, "refused": 0, "key_missing": 0, **numbers}
    if first is None:
        return {**numbers, "first_refusal": None}
    columns = [visible(name, NAME) for name in first.key_columns[:_COLUMNS]]
    why = FirstRefusal(first.code, visible(first.message), columns)
    return {**numbers, "first_refusal": why._asdict()}


def _named(counts: Mapping[str, int]) -> dict[str, int]:
    """Shorten the names; those that become the same are counted together."""
    named: Counter[str] = Counter()
    for name, count in counts.items():
        named[visible(name, NAME)] += count
    return dict(named)


def _letter(letter: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: _text(letter[name]) for name in PLACE_COLUMNS}
    if "value" in letter:
        shown["value"] = excerpt(letter["value"], _VALUE)
    return shown


def _text(value: Any) -> Any:
    return visible(value) if isinstance(value, str) else value


def _put(path: Path, text: str) -> None:
    begun = path.with_name(f"_{path.name}.tmp")
    with naming(path):
        begun.write_text(text, encoding="utf-8", newline="\n")
        begun.replace(path)
