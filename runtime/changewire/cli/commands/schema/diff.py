"""``changewire schema diff``."""

import sys
from collections import Counter
from typing import Annotated, Any, Final

import typer

from changewire.cli.ending import REJECTED, UNABLE, VALID, ending
from changewire.cli.options import Json, choice_option
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import Lines
from changewire.generator import generator_part
from changewire.report.text import visible

_SHOWN: Final = 1000
_SIDES: Final = ("readers", "writers")
_ASKED: Final = {"BACKWARD": ("readers",), "FORWARD": ("writers",), "FULL": _SIDES}
_COMPATIBLE: Final = "compatible"
_LOST: Final = {
    "readers": "accepted before and rejected now",
    "writers": "accepted now and rejected before",
}
_NOT_SHOWN: Final = "{}: no example of the schemas shows it"


@ending
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Old schemas.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="New schemas.", show_default=False)],
    *,
    compatibility: Annotated[
        str,
        choice_option(
            "--compatibility",
            of=tuple(_ASKED),
            metavar="LEVEL",
            help="Which breaking changes make the exit code 1: for readers (BACKWARD), for writers "
            "(FORWARD), or both (FULL).",
        ),
    ] = "FULL",
    no_witnesses: Annotated[
        bool, typer.Option("--no-witnesses", help="Do not search for messages that show a break.")
    ] = False,
    as_json: Json = False,
) -> int:
    """List the differences between two versions of schemas, and which break readers or writers.

    OLD and NEW are folders or files of schemas, `installed`, or revisions of a git checkout, as
    git:v1.0 or git:v1.0:FOLDER. The exit code is 1 if a difference is breaking.

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
