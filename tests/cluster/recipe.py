"""The recipe of docs/operate/deployment.md for a cluster, with places of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.docs.pages import all_blocks, blocks

PAGE: Final = "docs/operate/deployment.md"
REASON: Final = "`nox -s cluster` runs it"
"""Stands on the page above the commands that are run here."""

ARCHIVE, MASTER, WORKER, SUBMIT, FOR_CONNECT, SERVER, CLIENT = range(7)
"""Which block of commands does what."""


def commands(block: int, places: Mapping[str, str]) -> str:
    """Return the commands of a block, with other words for some of the page's.

    Raises:
        ValueError: The block lacks one of the page's words.
    """
    found = [one.code for one in all_blocks(PAGE) if one.reason == REASON]
    return replaced(found[block], places)


def job() -> str:
    """Return the program that the page submits, for tables of JSON text, which are then checked.

    Raises:
        ValueError: The program names no checkpoint.
    """
    (found,) = (code for code in blocks(PAGE) if "sys.argv" in code)
    return replaced(found, {"    checkpoint=": '    row_schema="json",\n    checkpoint='})


def replaced(text: str, places: Mapping[str, str]) -> str:
    """Return a text with other words for some of its own, each of which it must have."""
    for word, place in places.items():
        if word not in text:
            raise ValueError(f"{PAGE}: {word!r} is expected in:\n{text}")
        text = text.replace(word, place)
    return text
