"""The page of leniencies, from the texts of the report: ``docs/reference/leniencies.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from changewire.changes.leniencies import OF_CHANGES, OF_MESSAGES, OF_ROWS
from docs.making.markdown import cell, table

PAGE: Final = Path(__file__).parents[1] / "reference" / "leniencies.md"
_HEAD: Final = (
    "# Leniencies\n\n"
    "A [leniency](../concepts/change-events.md#leniencies) is a deviation that is accepted and\n"
    "counted. `python -m docs.making` writes this page from the texts of the report.\n"
)
_SECTIONS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "Leniencies of changes": ("They occur when a message is converted to changes.", OF_CHANGES),
    "Leniencies of messages": (
        "They occur when a message is decoded. The page of each format lists the properties.",
        OF_MESSAGES,
    ),
    "Leniencies of rows": (
        "They occur with [`row_schema`](../guides/spark.md#row_schema).",
        OF_ROWS,
    ),
}


def page() -> str:
    """Return the page: a table for each part of a message that needs leniencies."""
    sections = (
        f"\n## {title}\n\n{text}\n\n{table(('name', 'meaning'), _rows(meanings))}"
        for title, (text, meanings) in _SECTIONS.items()
    )
    return _HEAD + "".join(sections)


def _rows(meanings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, meaning in sorted(meanings.items()):
        yield f"`{name}`", cell(meaning)


def write() -> None:
    """Write the page again."""
    PAGE.write_text(page(), encoding="utf-8", newline="\n")


def differences() -> Iterator[str]:
    """Yield a line if the page is not current."""
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        yield "docs/reference/leniencies.md: the meanings are not current"
