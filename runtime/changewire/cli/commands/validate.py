"""``changewire validate``."""

import sys
from typing import Annotated

import typer
from msgspec import UNSET

from changewire.changes.contradictions import contradictions, issues_of
from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.cli.ending import ended, ending
from changewire.cli.options import (
    FoundFormat,
    Inputs,
    Json,
    Keys,
    Shape,
    StripRegistryPrefix,
    decode_options_of,
)
from changewire.cli.records import ElementPlace, found_issue, model_on, place_of, records
from changewire.cli.stderr import counted
from changewire.cli.stdout import Lines
from changewire.cli.topics import Limit, Options, Servers, Subscribe, topics_of
from changewire.codec import DecodeError, Issue, codec, detect, encoding_of, json_form
from changewire.codec.registry import unclaimed
from changewire.report.text import NAME, visible

_SHOWN = 60
_JSON = (b"{", b"[")
"""How the JSON form of a message begins; in MessagePack these are integers."""


@ending
def validate(
    inputs: Inputs = None,
    *,
    format: FoundFormat = AUTO,
    strict: Annotated[
        bool, typer.Option("--strict", help="Also reject properties that the schema lacks.")
    ] = False,
    key_columns: Keys = None,
    no_values: Annotated[
        bool, typer.Option("--no-values", help="Show the types of wrong values only.")
    ] = False,
    as_json: Json = False,
    shape: Shape = "auto",
    strip_registry_prefix: StripRegistryPrefix = False,
    servers: Servers = None,
    subscribe: Subscribe = None,
    options: Options = None,
    limit: Limit = None,
) -> int:
    """Report every issue of every message: place, JSON Pointer, rule, expected and actual value.

    Example: changewire validate -f aerospike-json --strict users.jsonl
    """
    how = decode_options_of(format, {}, key_columns=key_columns)
    lines = Lines()
    messages = wrong = found = 0
    topics = topics_of(inputs, servers, subscribe, options)
    for record in records(
        inputs, shape, topics, limit=limit, strip_registry_prefix=strip_registry_prefix
    ):
        messages += 1
        if record.value is None:
            continue
        issues = _issues(record.value, how, strict=strict)
        wrong += bool(issues)
        found += len(issues)
        place = place_of(record.position)
        for issue in issues:
            if as_json:
                is_shown = not no_values and issue.actual is not UNSET
                actual = {"actual": _value(issue)} if is_shown else {}
                lines.write(place, {**found_issue(issue), **actual})
            else:
                sys.stdout.write(f"{_sentence(place, issue, shown=not no_values)}\n")
    totals = {"messages": messages, "rejected": wrong, "issues": found}
    text = f"{counted(messages, 'message')}, {wrong:,} with {counted(found, 'issue')}"
    return ended(text, totals, as_json=as_json)


def _issues(value: bytes, options: DecodeOptions, *, strict: bool) -> list[Issue]:
    """Return every issue of a message; of a named format in MessagePack also of its JSON form."""
    name = detect(value) if options.format == AUTO else options.format
    if name is None:
        found = unclaimed(value)
        return found.error.issues + (found.nearest.issues if found.nearest else [])
    if encoding_of(name) == "json" or not value.startswith(_JSON):
        return issues_of(value, name, options, strict=strict)
    try:
        model = model_on(value, codec(name))
    except DecodeError as error:
        return error.issues
    return [] if model is None else contradictions(model, name, options)


def _sentence(place: ElementPlace, issue: Issue, *, shown: bool) -> str:
    found = f"found {issue.actual_type}"
    if shown and issue.actual is not UNSET:
        found += f" {_value(issue)}"
    at = f"{visible(issue.pointer)}: " if issue.pointer else ""
    expected = visible(issue.expected)
    return f"{visible(str(place))}: {at}expected {expected}, {found} ({issue.code}, {issue.rule})"


def _value(issue: Issue) -> str:
    """Return the start of a value, as JSON if it is a scalar."""
    if isinstance(issue.actual, (dict, list)):
        return visible(repr(issue.actual)[: NAME * 2], _SHOWN)
    return visible(repr(json_form(issue.actual)), _SHOWN)
