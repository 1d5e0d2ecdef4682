"""Charts as SVG that stands in a page: bars and text, without script, style or address.

Matplotlib draws; what it draws is then reduced to shapes whose colours the page sets by class, so
that a chart follows the page from light to dark.
"""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final
from unicodedata import east_asian_width

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from changewire.report.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL: Final = 20
"""Letters of a label that are shown at most; a wide one, as in Chinese, counts twice."""

BARS: Final = 10
"""Bars of a ranking at most; the page has every number in a table."""

_WIDTH: Final = 400
_BAR_HEIGHT: Final = 26
_TIME_HEIGHT: Final = 190
_DPI: Final = 72
_INK, _QUIET, _BAR = "#010101", "#020202", "#030303"
_CLASSES: Final = {_INK: "ink", _QUIET: "quiet", _BAR: "bar"}
_SETTINGS: Final[Any] = {  # Matplotlib types each setting by its name
    "font.size": 12,
    "svg.fonttype": "none",  # text stays text: the page sets its font
    "svg.hashsalt": "changewire",
    "text.usetex": False,
}


def ranking(counts: Sequence[tuple[str, int]]) -> str:
    """Return a chart of names and their counts, each a horizontal bar, as an SVG element.

    Args:
        counts: Names, which may be hostile, and counts; the first `BARS` are drawn.
    """
    shown = counts[:BARS]
    most = max((count for _, count in shown), default=0) or 1
    figure, axes = _figure(_BAR_HEIGHT * max(len(shown), 1))
    axes.set_position((0, 0, 1, 1))
    axes.set_xlim(-0.73, 1.21)
    axes.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    places = range(len(shown))
    axes.barh(places, [c / most for _, c in shown], height=0.62, color=_BAR)
    for place, (name, count) in enumerate(shown):
        _text(axes, (-0.03, place), fitted(visible(name)), _INK, "right")
        _text(axes, (count / most + 0.02, place), short(count), _QUIET, "left")
    return _svg(figure)


def timeline(steps: Sequence[tuple[str, int]]) -> str:
    """Return a chart of counts along time, each a vertical bar, as an SVG element.

    Args:
        steps: Labels and counts, in the order of time.
    """
    most = max((count for _, count in steps), default=0) or 1
    figure, axes = _figure(_TIME_HEIGHT)
    axes.set_position((0, 0.13, 1, 0.74))
    axes.set_xlim(-0.5, max(len(steps), 8) - 0.5)
    axes.set_ylim(0, 1)
    axes.axhline(0, color=_QUIET, linewidth=1, clip_on=False)
    axes.bar(range(len(steps)), [count / most for _, count in steps], width=0.8, color=_BAR)
    peak = max(range(len(steps)), key=lambda i: steps[i][1], default=0)
    end = axes.get_xlim()[1]
    side = "left" if peak < end / 3 else "right" if peak > end * 2 / 3 else "center"
    at = {"left": -0.4, "right": 0.4, "center": 0}[side]
    _text(axes, (peak + at, 1.09), short(steps[peak][1]) if steps else "0", _QUIET, side)
    if steps:
        _text(axes, (-0.5, -0.11), steps[0][0], _QUIET, "left")
    if len(steps) > 1:
        side = "right" if len(steps) > end / 2 else "left"
        _text(axes, (len(steps) - 0.5, -0.11), steps[-1][0], _QUIET, side)
    return _svg(figure)


def short(count: int) -> str:
    """Return a count in few characters: 1,234 or 12.3k or 4.5M."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= max(size, 10**4):
            return f"{count / size:.{0 if count >= 100 * size else 1}f}{unit}"
    return f"{count:,}"


def fitted(text: str) -> str:
    """Return text that is no wider than `LABEL`; what is cut off is marked by ``…``."""
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text))
    if not ends or ends[-1] <= LABEL:
        return text
    return f"{text[: sum(end < LABEL for end in ends)]}…"


def _figure(height: int) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH / _DPI, height / _DPI), dpi=_DPI)
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    axes.set_axis_off()
    figure.patch.set_visible(False)
    return figure, axes


def _text(axes: Axes, place: tuple[float, float], text: str, color: str, side: str) -> None:
    # Without parse_math a table named $\frac$ is a formula, and one that fails.
    axes.text(*place, text, color=color, ha=side, va="center", parse_math=False, clip_on=False)


def _svg(figure: Figure) -> str:
    file = io.BytesIO()
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the browser has the letters that our font lacks
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    root = ET.fromstring(file.getvalue())  # noqa: S314 - written by Matplotlib, a line above
    out = ET.Element("svg", {"viewBox": root.get("viewBox", ""), "role": "img"})
    out.extend(_shapes(root))
    return ET.tostring(out, encoding="unicode", short_empty_elements=False)


def _shapes(root: ET.Element) -> Iterable[ET.Element]:
    """Yield the paths and texts of a drawing, with classes instead of colours."""
    for element in root.iter():
        kind = element.tag.rpartition("}")[2]
        style = element.get("style", "")
        color = next((c for c in _CLASSES if c in style), None)
        if color is None or kind not in {"path", "text"}:
            continue
        kept = {n: element.get(n, "") for n in ("d", "x", "y") if element.get(n)}
        kept["class"] = _CLASSES[color]
        anchor = re.search(r"text-anchor: (\w+)", style)
        if anchor:
            kept["text-anchor"] = anchor[1]
        shape = ET.Element(kind, kept)
        shape.text = element.text if kind == "text" else None
        yield shape
