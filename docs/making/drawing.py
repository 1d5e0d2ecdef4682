"""A history as a picture: the changes, their results, and the table after them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from docs.making.histories import NO_EFFECT, WAITS, History, Step, steps

WIDTH: Final = 580
_HEAD: Final = 44
_ROW: Final = 52
_GAP: Final = 6
_ARRIVES, _BECOMES, _TABLE = 12, 226, 374  # where the three columns begin

INK, FAINT, _PAPER, LINE = "#1f2430", "#6b7280", "#ffffff", "#d5d9e0"
_COLOURS: Final = {NO_EFFECT: "#b45309", WAITS: "#6b7280"}
_APPLIED: Final = "#15803d"
_INHERITED: Final = "sequence inherited"


def picture(history: History) -> str:
    """Return a history as SVG."""
    found = list(steps(history))
    height = _HEAD + _ROW * len(found) + 8
    summary = "; ".join(f"{_what(s)[0]}: {', '.join(s.verdicts)}" for s in found)
    body = [*_head(height)]
    for number, step in enumerate(found):
        body += _step(step, _HEAD + _ROW * number)
    return document(WIDTH, height, summary, body)


def document(width: int, height: int, summary: str, body: Iterable[str]) -> str:
    """Return elements as a picture of its own; `summary` says what it shows."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    font = 'font-family="system-ui, -apple-system, Segoe UI, sans-serif" font-size="14"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
        f"<title>{escape(summary)}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="{_PAPER}"/>',
        *body,
    ]
    return "\n".join([*lines, "</svg>", ""])


def _head(height: int) -> Iterator[str]:
    for x, name in ((_ARRIVES, "arrives"), (_BECOMES, "becomes"), (_TABLE, "table after it")):
        yield label(x, 28, name, FAINT)
    yield f'<path d="M{_TABLE - 12} 12V{height - 12}" stroke="{LINE}"/>'


def _step(step: Step, top: int) -> Iterator[str]:
    """Yield a row of the picture: a badge with the sequence, the change, its verdicts, the rows."""
    yield f'<path d="M12 {top}H{WIDTH - 12}" stroke="{LINE}"/>'
    middle = top + 31
    yield box(_ARRIVES, top + 11, 44, LINE)
    yield label(_ARRIVES + 22, middle, step.cells["sequence"] or "none", INK, anchor="middle")
    first, second = _what(step)
    yield label(_ARRIVES + 54, top + 23 if second else middle, first, INK, weight=600)
    if second:
        yield label(_ARRIVES + 54, top + 42, second, INK)
    verdict = _telling(step.verdicts)
    yield label(_BECOMES, middle, verdict, _COLOURS.get(verdict, _APPLIED))
    yield from _rows(step, top + 11)


def _what(step: Step) -> tuple[str, str]:
    """Return what a change does, in two lines."""
    cells = step.cells
    key = f"{cells['before_key']} → {cells['id']}" if cells.get("before_key") else cells["id"]
    image = cells.get("row_image") or "full"
    first = " ".join(filter(None, (cells["op"], key, "" if image == "full" else f"({image})")))
    before = cells.get("before") and f"{cells['before']} before"
    return first, ", ".join(filter(None, (before, cells["after"])))


def _telling(verdicts: Sequence[str]) -> str:
    """Return what became of a row, or of both rows that a change concerns."""
    return verdicts[0] if len(verdicts) == 1 else ", ".join(v for v in verdicts if v != _INHERITED)


def _rows(step: Step, top: int) -> Iterator[str]:
    """Yield a box for each row, and a dashed one for each deleted row."""
    boxes = [(f"{key}: {columns_text(row)}", False) for key, row in step.rows.items()]
    boxes += [(f"{key} † {sequence}", True) for key, sequence in step.deleted.items()]
    if step.floor:
        boxes.append((f"all † {step.floor}", True))
    width = (WIDTH - _TABLE - 12 - _GAP * (len(boxes) - 1)) / len(boxes)
    for number, (text, is_gone) in enumerate(boxes):
        x, ink = _TABLE + number * (width + _GAP), FAINT if is_gone else INK
        yield box(x, top, width, ink, is_dashed=is_gone)
        yield label(x + width / 2, top + 20, text, ink, anchor="middle", size=13)


def columns_text(row: Mapping[str, Any]) -> str:
    """Return the columns of a row but its key, in words."""
    pairs = [f"{name}={value}" for name, value in sorted(row.items()) if name != "id"]
    return ", ".join(pairs) or "key alone"


def box(x: float, y: float, width: float, stroke: str, *, is_dashed: bool = False) -> str:
    """Return a box as high as a line of text."""
    dash = ' stroke-dasharray="4 3"' if is_dashed else ""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="30" rx="4" fill="none" '
        f'stroke="{stroke}"{dash}/>'
    )


def label(
    x: float,
    y: float,
    text: str,
    fill: str,
    *,
    anchor: str = "start",
    weight: int = 400,
    size: int = 14,
) -> str:
    """Return a line of text."""
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}" '
        f'font-size="{size}">{escape(text)}</text>'
    )
