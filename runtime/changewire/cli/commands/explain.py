"""``changewire explain``."""

from typing import Annotated, Any

import msgspec
import typer
from msgspec import UNSET

from changewire.changes.decode_options import AUTO
from changewire.cli.ending import REJECTED, UNABLE, VALID, ending
from changewire.cli.explained import show
from changewire.cli.options import FoundFormat, Json, Shape
from changewire.cli.records import STDIN, found_issue, given, place_of, records
from changewire.cli.stderr import notice
from changewire.cli.stdout import Lines, json_text
from changewire.explain import Explanation, Field
from changewire.explain import explain as explain_message
from changewire.framing import Record
from changewire.report.text import visible

_MOST = 20


@ending
def explain(
    input: Annotated[
        str | None,
        typer.Argument(
            metavar="INPUT",
            help="File or folder, also .gz and .zst; - is standard input, the default in a pipe.",
            show_default=False,
        ),
    ] = None,
    *,
    format: FoundFormat = AUTO,
    number: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of the message, from 0.")
    ] = 0,
    full: Annotated[
        bool, typer.Option("--full", help="Show long values and long arrays whole.")
    ] = False,
    as_json: Json = False,
    shape: Shape = "auto",
) -> int:
    """Write what each field of one message means, what its value says, and what is wrong with it.

    Example: changewire explain topic.jsonl --number 17
    """
    inputs = given([input] if input else None)
    record, before = _record(inputs, shape, number)
    if record is None:
        notice("error", _missing(inputs[0], number, before), as_json=as_json)
        return UNABLE
    if record.value is None:
        text = f"{place_of(record.position)}: the record has no value (a tombstone)"
        notice("note", text, as_json=as_json)
        return VALID
    name = None if format == AUTO else format
    found = explain_message(record.value, name, most=None if full else _MOST)
    if as_json:
        Lines().write(place_of(record.position), _explained(found))
    else:
        show(found, str(place_of(record.position)), full=full, is_detected=name is None)
    return REJECTED if found.issues else VALID


def _record(inputs: list[str], shape: str, number: int) -> tuple[Record | None, int]:
    """Return a record and its number; without such a record None, and how many there are."""
    count = 0
    for record in records(inputs, shape):
        if count == number:
            return record, number
        count += 1
    return None, count


def _missing(input: str, number: int, count: int) -> str:
    """Return that there is no such message, and which there are."""
    if count == 0:
        return f"no messages in {'standard input' if input == STDIN else visible(input)}"
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
    """Return a field as JSON; what there is nothing to say of is left out."""
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
