"""Which outcomes of a run end with 1, and what is said of changes and messages that got nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from signal import Signals
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from changewire.cli.ending import REJECTED, SIGNALLED, VALID
from changewire.cli.flags import in_flags, options_in
from changewire.cli.options import DECODE_FLAGS
from changewire.cli.queries import bounded
from changewire.cli.stderr import counted, notice
from changewire.cli.streams import TABLE_FLAGS
from changewire.engines.options import allowed
from changewire.report.text import NAME, visible

if TYPE_CHECKING:
    from changewire.engines.by_table import TableChanges
    from changewire.engines.outcome import Outcome

ALL: Final = "all"
_NEVER, _UNAPPLIED, _DEAD_LETTERS = "never", "unapplied", "dead-letters"
_WORDS: Final = (_NEVER, ALL, _UNAPPLIED, _DEAD_LETTERS)
_TABLES: Final = 3
"""Tables that are named at most, each with its first reason."""


def exit_code(outcome: Outcome, fail_on: str, *, is_continuous: bool) -> int:
    """Return the exit code of a run; a signal is the usual end of a continuous query."""
    signal = None if outcome.stream is None else outcome.stream.signal
    if signal is not None and not is_continuous:
        return SIGNALLED + Signals[signal]
    return REJECTED if _has_failed(outcome, fail_on) else VALID


def _has_failed(outcome: Outcome, fail_on: str) -> bool:
    if fail_on == _NEVER:
        return False
    if fail_on == ALL:
        return outcome.is_lost
    if fail_on == _UNAPPLIED:
        return outcome.unapplied > 0
    counts = outcome.counts
    most = 0 if fail_on == _DEAD_LETTERS else allowed(fail_on, counts.elements)
    return counts.dead_letters + outcome.unapplied > most


def _check_fail_on(text: str) -> str:
    if text not in _WORDS:
        try:
            allowed(text if text.endswith("%") else "", 0)
        except ValueError:
            words = ", ".join(_WORDS)
            raise typer.BadParameter(
                f"expected {words} or a share such as 5%, found {text!r}"
            ) from None
    return text


FailOn: TypeAlias = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="WHAT",
        callback=_check_fail_on,
        autocompletion=lambda: _WORDS,
        help="Exit with 1: never; if all elements are dead letters, or all changes of a table are "
        "in no table (all); for any change that was refused or has no key (unapplied); for "
        "any of these or a dead letter (dead-letters); or if they are more than a share of the "
        "elements (such as 5%).",
    ),
]


def say_losses(outcome: Outcome, command: str | None, *, is_failure: bool, as_json: bool) -> None:
    """Say which changes are in no table, and whether all elements are dead letters, and why.

    `command` shows more of it, if there is one.
    """
    lines, flags = [*_losses(outcome)], options_in({**DECODE_FLAGS, **TABLE_FLAGS})
    if lines and command is not None:
        lines.append(f"to see why: {command}")
    if lines:
        style, texts = "red" if is_failure else "yellow", [in_flags(one, flags) for one in lines]
        notice("error" if is_failure else "note", texts, as_json=as_json, style=style)
    flags["tables"] += " or --column"  # they set the same, and one of them was given
    for one in outcome.unmatched:
        text = in_flags(str(one), flags)
        notice("note", text, as_json=as_json, style="yellow")


def _losses(outcome: Outcome) -> Iterator[str]:
    from changewire.engines.outcome import place_text

    counts = outcome.counts
    if outcome.unapplied:
        are = "change is" if outcome.unapplied == 1 else "changes are"
        yield f"{outcome.unapplied:,} {are} in no table"
    worst = sorted(outcome.changes_by_table.items(), key=lambda one: -one[1].unapplied)
    found = [(name, one) for name, one in worst if one.unapplied]
    for name, one in found[:_TABLES]:
        yield f"{visible(name, NAME)}: {_of_table(one)}"
    if len(found) > _TABLES:
        yield f"and of {counted(len(found) - _TABLES, 'other table')}"
    if counts.elements and counts.elements == counts.dead_letters:
        yield f"not one of {counted(counts.elements, 'element')} could be read"
        for letter in outcome.first_dead_letters[:1]:
            yield f"{place_text(letter)}: {letter['message']}"


def _of_table(one: TableChanges) -> str:
    """Return how many changes of a table are in no table, and why."""
    parts = [f"{one.unapplied:,} of {counted(one.changes, 'change')}"]
    if one.key_missing:
        parts.append(f"{one.key_missing:,} have no key, whose columns --key-column names")
    if one.first_refusal is not None:
        columns = one.first_refusal.key_columns
        key = f" (key: {bounded(columns)})" if columns else ""
        parts.append(f"first refused for {one.first_refusal.message}{key}")
    return "; ".join(parts)
