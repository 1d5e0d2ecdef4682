"""The path of messages as a picture: topic, log, tables and dead letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from docs.making.drawing import FAINT, INK, LINE, WIDTH, document, label

_HEIGHT: Final = 516
_LEFT: Final = 12
_INSIDE: Final = 26  # where text begins in a frame
_ROW: Final = 22
_HALF: Final = WIDTH // 2
_CHANGE, _LETTER = "#15803d", "#b45309"

_MESSAGES: Final = (
    ("write", "ann", "age 41", ""),
    ("write", "ben", "age 29", ""),
    ("write", "ann", "age 42", ""),
    ("write", "ann", "age 41", "arrives late"),
    ("delete", "ben", "", ""),
    ("write", "cleo", 'gen "1"', "malformed"),
)
"""Those of the first table."""

_SUMMARY: Final = (
    "Messages of a topic or of files are appended to the log once each. Changes of the log are "
    "merged into tables of current rows. Messages that cannot be decoded are dead letters in the "
    "log, and are replayed after a fix."
)


def picture() -> str:
    """Return the picture as SVG."""
    return document(WIDTH, _HEIGHT, _SUMMARY, [*_topic(), *_log(), *_tables(), *_letters()])


def _topic() -> Iterator[str]:
    note = "messages in any order"
    yield from _frame(_LEFT, 12, WIDTH - 24, 182, "Kafka topic or files", note=note)
    for number, (kind, key, value, problem) in enumerate(_MESSAGES):
        yield from _cells(68 + _ROW * number, (kind, key, value))
        yield label(330, 68 + _ROW * number, problem, _LETTER)
    yield from _arrow(_HALF, 194, 228, "decode and validate")


def _log() -> Iterator[str]:
    yield from _frame(_LEFT, 228, WIDTH - 24, 90, "log", note="every element once")
    yield label(_INSIDE, 282, "5 changes", _CHANGE, weight=600)
    yield label(112, 282, "and", FAINT)
    yield label(146, 282, "1 dead letter: wrong-type at /gen", _LETTER, weight=600)
    yield label(_INSIDE, 304, "control events, refused changes, original bytes", FAINT, size=13)


def _tables() -> Iterator[str]:
    yield from _arrow(150, 318, 358, "merge in source order")
    yield from _frame(_LEFT, 358, 330, 146, "tables", note="current rows")
    top = 402
    for column, head in zip((26, 150, 240), ("key", "name", "age"), strict=True):
        yield label(column, top + 16, head, FAINT, size=13)
    yield f'<path d="M{_INSIDE} {top + 26}H328" stroke="{LINE}"/>'
    for column, cell in zip((26, 150, 240), ("ann", "Ann", "42"), strict=True):
        yield label(column, top + 46, cell, INK, weight=600)
    yield label(_INSIDE, top + 82, "ben is deleted, the late write is ignored", FAINT, size=13)


def _letters() -> Iterator[str]:
    yield from _arrow(470, 318, 358, "")
    yield from _frame(360, 358, WIDTH - 372, 146, "dead letters")
    yield label(374, 418, "code, path, bytes", INK)
    yield label(374, 448, "fix and replay:", FAINT, size=13)
    yield label(374, 468, "back into log and tables", FAINT, size=13)
    yield _head(530, 318, is_up=True)
    yield f'<path d="M530 358V324" stroke="{INK}" stroke-dasharray="4 3"/>'


def _cells(y: int, cells: Sequence[str]) -> Iterator[str]:
    for x, cell in zip((_INSIDE, 110, 200), cells, strict=True):
        yield label(x, y, cell, INK)


def _frame(x: int, y: int, width: int, height: int, title: str, *, note: str = "") -> Iterator[str]:
    """Yield a box with its title and a note after it."""
    size = f'width="{width}" height="{height}"'
    yield f'<rect x="{x}" y="{y}" {size} rx="6" fill="none" stroke="{FAINT}"/>'
    yield label(x + 14, y + 26, title, INK, weight=700, size=16)
    if note:
        yield label(x + width - 14, y + 26, note, FAINT, anchor="end")


def _arrow(x: int, top: int, bottom: int, text: str) -> Iterator[str]:
    yield f'<path d="M{x} {top}V{bottom - 6}" stroke="{INK}"/>'
    yield _head(x, bottom, is_up=False)
    yield label(x + 12, (top + bottom) // 2 + 5, text, FAINT, size=13)


def _head(x: int, y: int, *, is_up: bool) -> str:
    """Return the head of an arrow that ends at a point."""
    far = y + 8 if is_up else y - 8
    return f'<path d="M{x - 5} {far}L{x} {y}L{x + 5} {far}Z" fill="{INK}"/>'
