"""``changewire schema``: the schemas of messages, and what changed in them."""

import json
import sys
from collections import Counter
from typing import Annotated, Any, Final

import typer

from changewire.cli.ending import REJECTED, UNABLE, VALID, ending
from changewire.cli.options import Json, choice_option, one_of
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import Lines, write_data
from changewire.codec import formats, module_of
from changewire.codec.registry import usable
from changewire.explain.schema import schemas
from changewire.generator import generator_part
from changewire.report.text import visible

_SHOWN: Final = 1000
_NAME: Final = 20
_TITLE: Final = 20
_SIDES: Final = ("readers", "writers")
_ASKED: Final = {"BACKWARD": ("readers",), "FORWARD": ("writers",), "FULL": _SIDES}
_COMPATIBLE: Final = "compatible"
_LOST: Final = {
    "readers": "accepted before and refused now",
    "writers": "accepted now and refused before",
}
_NOT_SHOWN: Final = "{}: no example of the schemas shows it"

app = typer.Typer(
    help="The schemas of messages, and what changed in them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _variants(ctx: typer.Context) -> list[str]:
    """Return the kinds of messages that complete a command line."""
    named = ctx.params.get("format")
    return sorted(schemas(named)) if named in formats() else []


@app.command(short_help="Show the schema of a message.")
@ending
def show(
    format: Annotated[
        str | None,
        typer.Argument(
            metavar="FORMAT",
            help="Public name of a format.",
            autocompletion=formats,
            show_default=False,
        ),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Argument(
            metavar="VARIANT",
            help="Kind of message.",
            autocompletion=_variants,
            show_default=False,
        ),
    ] = None,
    *,
    as_json: Json = False,
) -> int:
    """Write the JSON Schema of a format's messages, or of one kind; without a format list them.

    Example: changewire schema show lindorm-json Insert
    """
    if format is None:
        return _list(as_json=as_json)
    one_of(formats)(format)
    found = schemas(format)
    wanted = module_of(format).ROLES["message"] if variant is None else variant
    one_of(lambda: sorted(found))(wanted)
    text = json.dumps(found[wanted], indent=None if as_json else 2, ensure_ascii=False)
    write_data(text.encode())
    return VALID


def _list(*, as_json: bool) -> int:
    """List the schemas of all formats, with the digests by which their packages know them."""
    rows = [
        (name, title, module_of(name).DIGESTS[title])
        for name in usable()
        for title in sorted(schemas(name))
    ]
    lines = Lines()
    for name, title, digest in rows:
        if as_json:
            lines.write({"format": name, "variant": title, "digest": digest})
        else:
            sys.stdout.write(f"{name:<{_NAME}}{title:<{_TITLE}}{digest}\n")
    return VALID


@app.command(short_help="What changed between two states of schemas, and who is hurt by it.")
@ending
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="What was.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What is.", show_default=False)],
    *,
    compatibility: Annotated[
        str,
        choice_option(
            "--compatibility",
            of=tuple(_ASKED),
            metavar="LEVEL",
            help="Whom the exit code is about: BACKWARD (readers), FORWARD (writers), FULL.",
        ),
    ] = "FULL",
    no_witnesses: Annotated[
        bool, typer.Option("--no-witnesses", help="Look for no examples that are lost.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Write each difference between two states of schemas, judged for readers and for writers.

    OLD and NEW are folders or files of schemas, `installed`, or revisions of a git checkout, as
    git:v1.0 or git:v1.0:FOLDER. The exit code is 1 if a difference is not compatible.

    Example: changewire schema diff installed schemas --compatibility BACKWARD
    """
    compare = generator_part("diff", "schema diff needs")
    lines, tally = Lines(), Counter[tuple[str, str]]()
    try:
        for found in compare(old, new, witnesses=not no_witnesses):
            tally.update((side, found[side]) for side in _SIDES)
            if as_json:
                lines.write(found)
            else:
                _write(found)
    except ValueError as error:
        notice("error", str(error), as_json=as_json)
        return UNABLE
    notice("totals", _total(tally), _totals(tally), as_json=as_json)
    hurt = [side for side, verdict in tally if verdict != _COMPATIBLE]
    return REJECTED if {*hurt} & {*_ASKED[compatibility]} else VALID


def _write(found: dict[str, Any]) -> None:
    """Write one difference: place, what happened, the verdicts, and messages that show them."""
    before = " (before)" if found["gone"] else ""
    verdicts = "; ".join(f"{side}: {found[side]}" for side in _SIDES)
    texts = [
        f"{found['file']}#{found['pointer']}{before}: {found['text']}",
        f"  {verdicts} ({found['rule']})",
    ]
    for side, witness in found["witnesses"].items():
        shown = f"{_LOST[side]}: {witness['message']}" if witness else _NOT_SHOWN.format(side)
        texts.append(f"  {shown}")
    sys.stdout.writelines(f"{visible(text, _SHOWN)}\n" for text in texts)


def _totals(tally: Counter[tuple[str, str]]) -> dict[str, Any]:
    """Return the number of differences of each verdict, for readers and for writers."""
    return {
        side: {verdict: count for (about, verdict), count in sorted(tally.items()) if about == side}
        for side in _SIDES
    }


def _total(tally: Counter[tuple[str, str]]) -> str:
    """Return one line with the number of differences, and of those that hurt each side."""
    count = sum(number for (side, _), number in tally.items() if side == "readers")
    parts = [counted(count, "difference")]
    for side in _SIDES:
        hurt = [
            f"{tally[side, verdict]:,} {verdict}"
            for verdict in ("breaking", "leniency gone")
            if tally[side, verdict]
        ]
        parts.append(f"{side}: {', '.join(hurt) or _COMPATIBLE}")
    return "; ".join(parts)
