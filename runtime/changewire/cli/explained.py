"""An explained message for people: a table on a wide terminal, plain text elsewhere."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import UNSET
from rich.table import Table
from rich.text import Text

from changewire.cli.stderr import console, counted
from changewire.cli.stdout import json_text
from changewire.explain import Explanation, Field, Stop
from changewire.report.text import NAME, SENTENCE, visible

_STEP: Final = "  "
_NARROWEST: Final = 72
"""Columns of a terminal on which four columns can be read; on a narrower one lines are better."""

_DEEPEST: Final = 20
"""Levels that are indented; a hostile message has as many as its parser follows."""

_STATES: Final = {"known": "", "unknown": "(not in the schema)", "missing": "(missing)"}


class _FieldRow(NamedTuple):
    """A field in words, all of them fit to be shown."""

    name: str
    value: str
    reading: str
    meaning: str
    problems: list[str]


def show(found: Explanation, place: str, *, full: bool, is_detected: bool) -> None:
    """Write an explained message, and the place where it stood, to standard output."""
    sys.stdout.write(f"{visible(place)}: {_headline(found, is_detected=is_detected)}\n")
    rows = [_row(field, full=full) for field in found.fields]
    shown = console(on_stdout=True)
    if sys.stdout.isatty() and shown.width >= _NARROWEST:
        shown.print(_table(rows), soft_wrap=False)
    else:
        for row in rows:
            sys.stdout.writelines(f"{line}\n" for line in _plain(row))
    for line in _ending(found):
        sys.stdout.write(f"{line}\n")


def _headline(found: Explanation, *, is_detected: bool) -> str:
    if found.format is None:
        nearest = f" (nearest: {found.nearest})" if found.nearest else ""
        return f"of no known format{nearest}"
    detected = " (detected)" if is_detected else ""
    return f"{found.format}{detected}" + (f", {found.variant}" if found.variant else "")


def _row(field: Field, *, full: bool) -> _FieldRow:
    longest = None if full else NAME
    name = _shown(field.name or "message", longest)
    reading = [
        field.reading and f"= {_shown(field.reading, longest)}",
        field.declared and f"as {_shown(field.declared, longest)}",
    ]
    return _FieldRow(
        _STEP * min(field.depth, _DEEPEST) + name,
        _joined(_shown(_value(field), longest), _STATES[field.state]),
        _joined(*reading),
        field.meaning,
        [visible(issue.sentence(show_values=True), SENTENCE) for issue in field.issues],
    )


def _value(field: Field) -> str:
    """Return a value as JSON text; of arrays and objects, what they are."""
    if field.value is not UNSET:
        return json_text(field.value).decode()
    if field.state == "missing":
        return ""
    more = f", {field.left_out:,} of its fields not shown" if field.left_out else ""
    return field.kind + more


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


def _shown(text: str, longest: int | None) -> str:
    return visible(text, len(text) if longest is None else longest)


def _plain(row: _FieldRow) -> Iterator[str]:
    meaning = row.meaning and f" # {row.meaning}"
    yield _joined(f"{row.name}:", row.value, row.reading, meaning)
    indent = row.name[: len(row.name) - len(row.name.lstrip(" "))]
    yield from (f"{indent}{_STEP}! {problem}" for problem in row.problems)


def _table(rows: list[_FieldRow]) -> Table:
    table = Table("field", "value", "reading", "meaning", box=None, pad_edge=False)
    for column, style in zip(table.columns, ("bold", "", "cyan", "dim"), strict=True):
        column.style, column.overflow = style, "fold"
    for row in rows:
        table.add_row(*map(Text, (row.name, row.value, row.reading, row.meaning)))
        for problem in row.problems:
            table.add_row("", Text("!", "red"), Text(problem, "red"), "")
    return table


def _ending(found: Explanation) -> Iterator[str]:
    if not found.fields:
        yield from (visible(issue.sentence(show_values=True)) for issue in found.issues)
    if found.stop is not None:
        yield from _around(found.stop)
    if found.leniencies:
        uses = Counter(found.leniencies).items()
        names = [name if count == 1 else f"{name} ({count:,})" for name, count in uses]
        yield f"leniencies: {', '.join(names)}"
    if found.fields:
        yield counted(len(found.issues), "issue")


def _around(stop: Stop) -> Iterator[str]:
    """Yield the bytes around the place where the parser stopped, and a mark below it."""
    before, after = (
        visible(data.decode("utf-8", "backslashreplace"), len(data) * 4)
        for data in (stop.before, stop.after)
    )
    intro = f"byte {stop.byte_offset:,}: "
    yield f"{intro}{before}{after}"
    yield " " * len(intro + before) + "^"
