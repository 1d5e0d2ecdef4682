"""Bar charts of the report: their geometry, which the template draws as inline SVG."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple
from unicodedata import east_asian_width

from changewire.report.hours import Series
from changewire.report.text import visible

LABEL: Final = 20
"""Letters of a label that are shown at most; a wide one, as in Chinese, counts twice."""

BARS: Final = 10
"""Bars of a ranking at most; the page has every number in a table."""

WIDTH: Final = 400
_ROW, _BAR = 26, 16
_NAMES, _LONGEST = 150, 206
"""Room for the names on the left of a ranking, and the length of its longest bar."""

_TOP, _HIGHEST, _TIME_HEIGHT = 25, 140, 190
"""Of a timeline: room above its bars, the height of its highest bar, and its whole height."""

_FEWEST_STEPS: Final = 8
"""A timeline of fewer steps leaves room on its right, so that bars do not become blocks."""


class Bar(NamedTuple):
    """A rectangle, in units of the drawing."""

    x: float
    y: float
    width: float
    height: float


class Label(NamedTuple):
    """A text, centred on a height; its style is a class of the page's style sheet."""

    x: float
    y: float
    text: str
    style: Literal["ink", "quiet"]
    anchor: Literal["start", "middle", "end"]


class Chart(NamedTuple):
    """What the template draws; texts are not escaped yet.

    Attributes:
        height: Height of the drawing, which is `WIDTH` wide.
        title: What the chart shows, for those who do not see it.
        description: Its names and counts in words, for those who do not see it.
        bars: The bars.
        labels: The texts.
        axis: Height of the line at which the bars begin; None without a line.
    """

    height: int
    title: str
    description: str
    bars: list[Bar]
    labels: list[Label]
    axis: float | None = None


def ranking(title: str, counts: Sequence[tuple[str, int]]) -> Chart:
    """Return a chart of names, which may be hostile, and counts: `BARS` horizontal bars at most."""
    shown = [(fitted(visible(name)), count) for name, count in counts[:BARS]]
    most = _most(shown)
    bars: list[Bar] = []
    labels: list[Label] = []
    for row, (name, count) in enumerate(shown):
        middle, length = (row + 0.5) * _ROW, round(_LONGEST * count / most, 1)
        bars.append(Bar(_NAMES, middle - _BAR / 2, length, _BAR))
        labels.append(Label(_NAMES - 6, middle, name, "ink", "end"))
        labels.append(Label(_NAMES + length + 4, middle, short(count), "quiet", "start"))
    description = "; ".join(f"{name}: {count:,}" for name, count in shown)
    return Chart(_ROW * max(len(shown), 1), title, description, bars, labels)


def timeline(title: str, time: Series) -> Chart:
    """Return a chart of counts along time, each a vertical bar."""
    steps, bottom = time.steps, _TOP + _HIGHEST
    most, wide = _most(steps), WIDTH / max(len(steps), _FEWEST_STEPS)
    bars: list[Bar] = []
    for place, (_, count) in enumerate(steps):
        left, height = round((place + 0.1) * wide, 1), round(_HIGHEST * count / most, 1)
        bars.append(Bar(left, bottom - height, round(0.8 * wide, 1), height))
    labels = [_peak(bars, steps)] if steps else []
    if steps:
        labels.append(Label(0, bottom + 15, steps[0][0], "quiet", "start"))
    if len(steps) > 1:
        end = round(len(steps) * wide, 1)
        is_far = end > WIDTH / 2 - 1
        labels.append(Label(end, bottom + 15, steps[-1][0], "quiet", "end" if is_far else "start"))
    return Chart(_TIME_HEIGHT, title, _along_time(time), bars, labels, bottom)


def _peak(bars: Sequence[Bar], steps: Sequence[tuple[str, int]]) -> Label:
    """Return the count of the highest bar, above it."""
    peak = max(range(len(steps)), key=lambda i: steps[i][1])
    bar, text = bars[peak], short(steps[peak][1])
    if bar.x < WIDTH / 3:
        return Label(bar.x, _TOP - 12, text, "quiet", "start")
    if bar.x > WIDTH * 2 / 3:
        return Label(round(bar.x + bar.width, 1), _TOP - 12, text, "quiet", "end")
    return Label(round(bar.x + bar.width / 2, 1), _TOP - 12, text, "quiet", "middle")


def _along_time(time: Series) -> str:
    if not time.steps:
        return ""
    label, count = max(time.steps, key=lambda step: step[1])
    return f"From {time.steps[0][0]} to {time.steps[-1][0]}; most in {label}: {count:,}"


def _most(counts: Sequence[tuple[str, int]]) -> int:
    return max((count for _, count in counts), default=0) or 1


def short(count: int) -> str:
    """Return a count in few characters: 1,234 or 12.3k or 4.5M."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= max(size, 10**4):
            return f"{count / size:.{0 if count >= 100 * size else 1}f}{unit}"
    return f"{count:,}"


def fitted(text: str) -> str:
    """Return text that is not wider than `LABEL`; what is cut off is marked by ``…``."""
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text))
    if not ends or ends[-1] <= LABEL:
        return text
    return f"{text[: sum(end < LABEL for end in ends)]}…"
