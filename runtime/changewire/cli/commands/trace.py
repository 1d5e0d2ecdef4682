"""``changewire trace``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import UNSET, Raw

from changewire.cli.ending import REJECTED, VALID, ending
from changewire.cli.options import Json, text_option
from changewire.cli.queries import ApplyTruncates, LogDir, meant_table, queried
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import Lines, json_text
from changewire.cli.traced import VERDICTS, nothing_found, show
from changewire.tables.version_rows import fields_of

if TYPE_CHECKING:
    from changewire.engines.changelog.target import Verdict
    from changewire.engines.changelog.trace import Found
    from changewire.tables.history import History, Step


@ending
def trace(
    log: LogDir,
    key: Annotated[
        list[str],
        typer.Argument(metavar="KEY", help="column=value for each column, or a JSON object."),
    ],
    *,
    table: Annotated[
        str | None,
        text_option(
            metavar="NAME",
            help="Table of the row, as database.table in the messages, or the end of its name.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        text_option(metavar="DIR", help="Folder of the Delta table, to compare its row."),
    ] = None,
    apply_truncates: ApplyTruncates = False,
    full: Annotated[bool, typer.Option("--full", help="Show long values whole.")] = False,
    as_json: Json = False,
) -> int:
    """Show which changes produced a row, in order, and why others had no effect.

    The log is read without Spark: Parquet, or Delta with the extra delta. The exit code is 1
    if the log does not have the key, or the table differs from the log.

    Example: changewire trace lake/ id=7 --table shop.users --target lake/tables/users
    """
    from changewire.engines.changelog.trace import history_in
    from changewire.tables.routing import TRUNCATE

    found = _found(log, key, table)
    if found.key is None:
        named = meant_table(found.tables, table) or table
        notice("error", nothing_found(found.tables, named), as_json=as_json, style="red")
        return REJECTED
    history = history_in(found, truncates=apply_truncates)
    truncates = sum(one.change.op == TRUNCATE for one in found.changes)
    if truncates and not apply_truncates:
        text = f"left out, see --apply-truncates: {counted(truncates, 'truncate')} of the table"
        notice("note", text, as_json=as_json)
    verdict = None if target is None else _verdict(target, found.key, history)
    if as_json:
        _write(found, history, verdict)
    else:
        show(history, f"{found.table or ''} {found.key}".lstrip(), full=full)
    if verdict is None:
        return VALID
    is_same = verdict == "same"
    text = f"{target}: the table {VERDICTS[verdict]} ({verdict})"
    notice("note", text, as_json=as_json, style="" if is_same else "red")
    return VALID if is_same else REJECTED


def _found(folder: str, key: list[str], table: str | None) -> Found:
    """Return the changes of the key; one that is meant in several ways is wrong usage."""
    from changewire.engines.changelog.keys import wanted_of
    from changewire.engines.changelog.source import LogRows
    from changewire.engines.changelog.trace import find

    found = queried(lambda: find(LogRows(folder), wanted_of(key), table))
    meant = meant_table(found.tables, table)
    if meant is None:
        return found
    return queried(lambda: find(LogRows(folder), wanted_of(key), meant))


def _verdict(target: str, key: str, history: History) -> Verdict:
    from changewire.engines.changelog.target import stored_row, verdict

    return verdict(history.state, stored_row(target, key))


def _write(found: Found, history: History, verdict: Verdict | None) -> None:
    """Write a line of JSON for each step, and one for the row."""
    lines, state, other = Lines(), history.state, history.in_one_batch
    for step in history.steps:
        lines.write(fields_of(step.order), _json_step(step))
    lines.write(
        {
            "table": found.table,
            "key": Raw((found.key or "null").encode()),
            "row": _raw(None if state is None else state.values),
            "depends_on_batches": history.depends_on_batches,
            "row_in_one_batch": _raw(None if other is None else other.values),
            "target": verdict,
        }
    )


def _json_step(step: Step) -> dict[str, Any]:
    change, refused = step.placed.change, step.refused
    return {
        "op": change.op,
        "kind": step.kind,
        "event_time": None if change.event_time is None else change.event_time.isoformat(),
        "inherited": step.is_inherited,
        "reason": None if refused is None else refused.reason,
        "detail": None if refused is None else refused.detail or None,
        "newer": None if refused is None or refused.held is None else fields_of(refused.held),
        "ignored": step.ignored,
        "columns": {
            name: {
                side: _raw(value)
                for side, value in zip(("before", "after"), pair, strict=True)
                if value is not UNSET
            }
            for name, pair in step.columns().items()
        },
    }


def _raw(value: Any) -> Raw:
    return Raw(json_text(value))
