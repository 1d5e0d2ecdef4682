"""What stands on standard error: a sentence for people, or with ``--json`` a line of JSON."""

from __future__ import annotations

import sys
from typing import Literal, TypeAlias

from changewire.cli.lines import Lines
from changewire.cli.talk import say

Kind: TypeAlias = Literal["error", "note", "refused", "loss", "totals"]


def notice(
    kind: Kind, text: str | list[str], *facts: object, as_json: bool, style: str = ""
) -> None:
    """Write one notice to standard error.

    Args:
        kind: Property ``notice`` of the line of JSON.
        text: The notice for people, one line or several; for programs too, as ``message``, where
            there are no facts.
        facts: Objects whose properties stand in the line of JSON; none of them is empty.
        as_json: Whether ``--json`` was given.
        style: Style of the sentence on a terminal.
    """
    if as_json:
        message = text if isinstance(text, str) else "\n".join(text)
        Lines(sys.stderr).write({"notice": kind}, *(facts or ({"message": message},)))
    else:
        for line in [text] if isinstance(text, str) else text:
            say(line, style)
