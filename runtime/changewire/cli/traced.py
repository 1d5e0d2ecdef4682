"""The history of a row for people: a line for each change, and below it what that did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from rich.text import Text

from changewire.cli.queries import bounded, missing_table
from changewire.cli.stderr import console, counted
from changewire.cli.stdout import json_text
from changewire.report.text import NAME, visible

if TYPE_CHECKING:
    from changewire.engines.changelog.target import Verdict
    from changewire.tables.history import History, Reason, Step
    from changewire.tables.order import Order

REASONS: Final[Mapping[Reason, str]] = {
    "before-image": "a before image changes nothing by itself",
    "before-image-waits": "the after image of this update is not known yet",
    "duplicate": "the row has this change already",
    "full-load": "a row of an initial load, and the row is from a change with a sequence",
    "older-than-row": "the row is newer",
    "older-than-tombstone": "a newer change deleted the row",
    "older-than-truncate": "a newer change truncated the table",
    "refused": "the table refuses it",
    "truncate-without-sequence": "a truncate without a sequence is not applied",
}
"""Why a change did nothing, in words."""

VERDICTS: Final[Mapping[Verdict, str]] = {
    "same": "agrees with the log",
    "missing": "lacks the row",
    "left-over": "has a row that is deleted in the log",
    "other-change": "has a row that another change made",
    "other-values": "has other values",
}
"""The state of a row in a table, in words."""

BATCHES: Final = (
    "a change without a sequence takes one from what came before it in its batch: had all come in"
    " one batch, the row would be "
)

_STYLES: Final = {"applied": "bold", "refused": "red", "column": "", "end": "bold cyan"}

Line = tuple[str, str]
"""A line, and the kind of it, a key of `_STYLES`."""


def show(history: History, title: str, *, full: bool) -> None:
    """Write the history of one row below a title, which is table and key, to standard output."""
    talk = console(on_stdout=True)
    for text, style in _lines(history, title, full=full):
        talk.print(Text(text, _STYLES[style]))


def nothing_found(tables: Mapping[str, Sequence[str]], table: str | None) -> str:
    """Return in words why a log has no change of a key; `tables` has the key columns by table."""
    missing = None if table is None else missing_table(tables, table)
    if missing is not None:
        return missing
    wanted = tables if table is None else {table: tables.get(table, ())}
    named = [f"{name} ({', '.join(columns)})" for name, columns in wanted.items() if columns]
    if len(named) > 1:
        return f"the log has no change of this key; keys of its tables: {bounded(named)}"
    columns = next((columns for columns in wanted.values() if columns), ())
    keys = f": keys of {visible(table, NAME)} have" if table else ": its keys have"
    said = f"{keys} {bounded(columns)}" if columns else ""
    return f"the log has no change of this key{said}"


def _lines(history: History, title: str, *, full: bool) -> Iterator[Line]:
    longest = None if full else NAME
    yield visible(title), "end"
    for number, step in enumerate(history.steps, 1):
        yield from _step(number, step, longest)
    state = history.state
    applied = sum(step.refused is None for step in history.steps)
    yield f"{counted(len(history.steps), 'change')}, {applied:,} applied", "column"
    yield f"now: {row_text(None if state is None else state.values, longest)}", "end"
    if history.depends_on_batches:
        other = history.in_one_batch
        values = None if other is None else other.values
        yield f"! {BATCHES}{row_text(values, longest)}", "refused"


def _step(number: int, step: Step, longest: int | None) -> Iterator[Line]:
    change, refused = step.placed.change, step.refused
    place = visible(place_text(step.placed.position))
    words = [f"{number}", place, visible(change.op, NAME)]
    if step.kind not in {change.op, "none"}:
        words.append(f"({step.kind})")
    inherited = " (taken from before)" if step.is_inherited else ""
    words.append(f"sequence {sequence_text(step.order)}{inherited}")
    if change.event_time is not None:
        words.append(change.event_time.isoformat())
    yield "  ".join(words), "applied" if refused is None else "refused"
    if refused is not None:
        more = refused.detail if refused.held is None else _order(refused.held)
        reason = f"{REASONS[refused.reason]}: {more}" if more else REASONS[refused.reason]
        yield f"     ! {visible(reason)} ({refused.reason})", "refused"
    for name, (before, after) in step.columns().items():
        pair = f"{_value(before, longest)} -> {_value(after, longest)}"
        yield f"     {visible(name, NAME)}: {pair}", "column"
    for name in step.ignored:
        yield f"     {visible(name, NAME)}: stays, something newer has set it", "column"


def place_text(position: tuple[str, int, int, int]) -> str:
    """Return where a change was read: topic/partition/offset, or file and record."""
    topic, partition, offset, element = position
    place = f"{topic}, record {offset}" if partition < 0 else f"{topic}/{partition}/{offset}"
    return f"{place}, element {element}" if element else place


def sequence_text(order: Order) -> str:
    """Return the sequence of an order in words."""
    return ".".join(map(str, order.sequence)) or "none"


def row_text(values: Mapping[str, Any] | None, longest: int | None = NAME) -> str:
    """Return a row without its key as JSON text."""
    return "no row" if values is None else _value(dict(values), longest)


def _order(order: Order) -> str:
    return f"sequence {sequence_text(order)}, {place_text(order.position)}"


def _value(value: Any, longest: int | None) -> str:
    if value is UNSET:
        return "(absent)"
    text = json_text(value).decode()
    return visible(text, len(text) if longest is None else longest)
