"""The versions of rows as a picture: a line for each row, and a box for each of its versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from changewire.tables import ChangePosition
from changewire.tables.mutations import RowMutation, mutations
from changewire.tables.order import Sequence
from changewire.tables.versions import Version, states_of, versions_of
from docs.making.drawing import FAINT, INK, LINE, WIDTH, box, columns_text, document, label
from docs.making.histories import History, change, sequence_text

PAGE: Final = Path(__file__).parents[1] / "guides" / "history.md"

_HEAD, _ROW = 44, 42
_LEFT, _OPEN = 90, 130  # where the first end is, and how much room the last version has


def versions(history: History) -> dict[int, list[Version]]:
    """Return the versions of each row of a history on the page, by its key."""
    found: dict[int, list[RowMutation]] = {}
    for offset, cells in enumerate(history.changes):
        for one in mutations(change(cells), ChangePosition("topic", 0, offset, 0)):
            found.setdefault(one.key["id"], []).append(one)
    return {key: versions_of(states_of(of_key)) for key, of_key in sorted(found.items())}


def picture(history: History) -> str:
    """Return the versions of a history as SVG."""
    found = versions(history)
    every = [one for of_key in found.values() for one in of_key]
    ends = {end.sequence for one in every for end in (one.began, one.ended) if end is not None}
    step = (WIDTH - _LEFT - _OPEN) / max(len(ends) - 1, 1)
    ticks = {sequence: _LEFT + step * number for number, sequence in enumerate(sorted(ends))}
    height = _HEAD + _ROW * len(found) + 4
    body = [*_axis(ticks, height)]
    for number, (key, of_key) in enumerate(found.items()):
        top = _HEAD + _ROW * number
        body.append(label(12, top + 20, f"id {key}", INK, weight=600))
        for one in of_key:
            body += _version(one, ticks, top)
    summary = "; ".join(f"{key}: {_summary(of_key)}" for key, of_key in found.items())
    return document(WIDTH, height, summary, body)


def _axis(ticks: Mapping[Sequence, float], height: int) -> Iterator[str]:
    """Yield the sequences of all ends, each above a line."""
    for sequence, x in ticks.items():
        yield f'<path d="M{x:g} 34V{height - 8}" stroke="{LINE}"/>'
        yield label(x, 26, sequence_text(sequence), FAINT, anchor="middle")


def _version(version: Version, ticks: Mapping[Sequence, float], top: int) -> Iterator[str]:
    """Yield a box; that of a current version has no end."""
    left, ended = ticks[version.began.sequence], version.ended
    right = WIDTH - 12 if ended is None else ticks[ended.sequence]
    yield box(left + 2, top, right - left - 4, FAINT if ended else INK, is_dashed=ended is None)
    text = columns_text(version.values)
    yield label((left + right) / 2, top + 20, text, INK, anchor="middle", size=13)


def _summary(versions: Iterable[Version]) -> str:
    """Return versions in words."""
    words = (
        f"{columns_text(one.values)} from {sequence_text(one.began.sequence)}"
        + (f" to {sequence_text(one.ended.sequence)}" if one.ended else ", current")
        for one in versions
    )
    return ", ".join(words)
