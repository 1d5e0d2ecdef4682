"""``changewire explain``: a table on a wide terminal, plain text elsewhere, or a line of JSON."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import typer
from msgspec import UNSET
from rich.table import Table
from rich.text import Text

from changewire.changes.decode_options import AUTO
from changewire.cli.ending import REJECTED, UNABLE, VALID, ending
from changewire.cli.formats_found import count_formats
from changewire.cli.options import FoundFormat, Inputs, Json, Shape, StripRegistryPrefix
from changewire.cli.records import STDIN, found_issue, place_of, records
from changewire.cli.stderr import console, counted, notice
from changewire.cli.stdout import Lines, json_text
from changewire.cli.topics import Limit, Options, Servers, Subscribe, topics_of
from changewire.explain import Explanation, Field, Stop
from changewire.explain import explain as explain_message
from changewire.framing import Record
from changewire.report.text import NAME, SENTENCE, visible

_MOST = 20


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


@ending
def explain(
    inputs: Inputs = None,
    *,
    format: FoundFormat = AUTO,
    number: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of the message, from 0.")
    ] = 0,
    count: Annotated[
        bool, typer.Option("--count", help="Count the messages of each format instead.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Show long values and long arrays whole.")
    ] = False,
    as_json: Json = False,
    shape: Shape = "auto",
    strip_registry_prefix: StripRegistryPrefix = False,
    servers: Servers = None,
    subscribe: Subscribe = None,
    options: Options = None,
    limit: Limit = None,
) -> int:
    """Explain one message: the meaning and value of each field, and what is wrong with it.

    With --count, count the messages of each format. A message of a known format may still be
    invalid: use `changewire validate`.

    Example: changewire explain topic.jsonl --number 17
    """
    topics = topics_of(inputs, servers, subscribe, options)
    found = records(inputs, shape, topics, limit=limit, strip_registry_prefix=strip_registry_prefix)
    if count:
        return count_formats(found, as_json=as_json)
    record, before = _record(found, number)
    if record is None:
        notice("error", _missing(subscribe or inputs, number, before), as_json=as_json)
        return UNABLE
    if record.value is None:
        text = f"{place_of(record.position)}: the record has no value (a tombstone)"
        notice("note", text, as_json=as_json)
        return VALID
    name = None if format == AUTO else format
    explained = explain_message(record.value, name, most=None if full else _MOST)
    if as_json:
        Lines().write(place_of(record.position), _explained(explained))
    else:
        _show(explained, str(place_of(record.position)), full=full, is_detected=name is None)
    return REJECTED if explained.issues else VALID


def _record(found: Iterator[Record], number: int) -> tuple[Record | None, int]:
    """Return a record and its number; without such a record None, and how many there are."""
    count = 0
    for record in found:
        if count == number:
            return record, number
        count += 1
    return None, count


def _missing(inputs: str | list[str] | None, number: int, count: int) -> str:
    """Return that there is no such message, and how many there are."""
    if count == 0:
        names = [inputs] if isinstance(inputs, str) else inputs or [STDIN]
        shown = ("standard input" if name == STDIN else visible(name) for name in names)
        return f"no messages in {', '.join(shown)}"
    numbers = (
        "is 1 message, number 0" if count == 1 else f"are {count:,} messages, 0 to {count - 1:,}"
    )
    return f"no message {number}: there {numbers}"


def _explained(found: Explanation) -> dict[str, Any]:
    """Return a message as JSON; its issues are those of all fields, and why it cannot be parsed."""
    return {
        "format": found.format,
        "nearest": found.nearest,
        "variant": found.variant,
        "fields": [_field(field) for field in found.fields],
        "issues": [found_issue(issue) for issue in found.issues],
        "leniencies": found.leniencies,
        "byte_offset": found.stop.byte_offset if found.stop else None,
    }


def _field(field: Field) -> dict[str, Any]:
    """Return a field as JSON; empty parts are left out."""
    found: dict[str, Any] = {"pointer": field.pointer, "name": field.name, "kind": field.kind}
    if field.value is not UNSET:
        found["value"] = msgspec.Raw(json_text(field.value))
    more = {
        "meaning": field.meaning,
        "reading": field.reading,
        "declared": field.declared,
        "state": "" if field.state == "known" else field.state,
        "left_out": field.left_out,
        "issues": [found_issue(issue) for issue in field.issues],
    }
    return {**found, **{name: said for name, said in more.items() if said}}


def _show(found: Explanation, place: str, *, full: bool, is_detected: bool) -> None:
    """Write an explained message, and its place, to standard output."""
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
    """Return a value as JSON text; of arrays and objects, their kinds."""
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
