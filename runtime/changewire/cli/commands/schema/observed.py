"""``changewire schema observed``."""

import sys
from collections.abc import Iterator
from typing import Any

import typer

from changewire.changes.connect.differences import Difference
from changewire.changes.decode_options import AUTO
from changewire.changes.schemas import Schemas, SchemaUse, Tally, TopicTally
from changewire.changes.sources import dotted
from changewire.cli.ending import ended, ending
from changewire.cli.options import FoundFormat, Inputs, Json, Shape, StripRegistryPrefix
from changewire.cli.records import place_of, records, report_rejected
from changewire.cli.stderr import counted
from changewire.cli.stdout import Lines
from changewire.report.text import visible

_SHOWN = 200
_PLACES = 5
"""Places that a line names."""


@ending
def observed(
    inputs: Inputs = None,
    *,
    format: FoundFormat = AUTO,
    as_json: Json = False,
    shape: Shape = "auto",
    strip_registry_prefix: StripRegistryPrefix = False,
) -> int:
    """List the schemas that messages carry: how many messages have each, where, and what changed.

    Rejected messages are named on standard error.

    Example: changewire schema observed -f dataworks-json topic.jsonl
    """
    tally = _tally(format)
    for record in records(inputs, shape, strip_registry_prefix=strip_registry_prefix):
        for rejected in tally.add(record.value, record.position):
            report_rejected(record.position, rejected, as_json=as_json)
    found = tally.schemas()
    lines = Lines()
    for use in found.schemas:
        if as_json:
            lines.write(_as_json(use))
        else:
            sys.stdout.writelines(f"{visible(line, _SHOWN)}\n" for line in _as_text(use))
    return _ended(found, as_json=as_json)


def _tally(format: str) -> Tally | TopicTally:
    """Return what counts; a format without schemas is wrong usage."""
    try:
        return TopicTally() if format == AUTO else Tally(format)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _as_json(use: SchemaUse) -> dict[str, Any]:
    return {
        "source": use.source,
        "fingerprint": use.fingerprint,
        "count": use.count,
        "first": place_of(use.first),
        "last": place_of(use.last),
        "columns": use.columns,
        "differences": use.differences,
        "places": use.places,
        "schema": use.text,
    }


def _as_text(use: SchemaUse) -> Iterator[str]:
    numbers = f"{counted(use.count, 'message')}, {counted(len(use.columns), 'column')}"
    yield f"{dotted(use.source)}  {use.fingerprint}  {numbers}"
    first, last = place_of(use.first), place_of(use.last)
    yield f"  {first}" if first == last else f"  {first} to {last}"
    for change in use.differences:
        yield f"  {_SIGNS[change.kind]} {change.path} {_types(change)}"
    if use.places is not None:
        yield f"  = same columns as the schema before it, {_elsewhere(use.places)}"


_SIGNS = {"added": "+", "removed": "-", "type-changed": "~", "optional-changed": "~"}


def _elsewhere(places: list[str]) -> str:
    """Return where two schemas with the same columns differ."""
    if not places:
        return "other order of properties or spacing"
    more = " and others" if len(places) > _PLACES else ""
    return f"other values at {', '.join(places[:_PLACES])}{more}"


def _types(change: Difference) -> str:
    return " -> ".join(word for word in (change.old, change.new) if word is not None)


def _ended(found: Schemas, *, as_json: bool) -> int:
    tables = len({use.source for use in found.schemas})
    listed = f"{counted(len(found.schemas), 'schema')} of {counted(tables, 'table')}"
    others = f"{found.without:,} without schema, {found.rejected:,} rejected"
    more = f"; {found.left_out:,} have others, too many to list" if found.left_out else ""
    text = f"{counted(found.messages, 'message')}, {listed}, {others}{more}"
    totals = {
        "messages": found.messages,
        "schemas": len(found.schemas),
        "tables": tables,
        "without_schema": found.without,
        "left_out": found.left_out,
        "rejected": found.rejected,
    }
    return ended(text, totals, as_json=as_json)
