"""Plots of the benchmarks, from the result files that ``python -m benchmarks --json`` writes."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

RESULTS: Final = Path(__file__).parents[2] / "benchmarks" / "results"

_PEER: Final = re.compile(r"(or)?json\b|jsonschema|msgpack|pydantic|.*\bby hand")
_OURS, _THEIRS, _INK = "#2563eb", "#9ca3af", "#1f2430"
_DPI: Final = 72
_WIDTH, _BAR, _TITLE = 560, 22, 46
_SETTINGS: Final[Any] = {"font.size": 11, "svg.fonttype": "none", "svg.hashsalt": "changewire"}

_TITLES: Final = {
    "codec.json": "Aerospike JSON compared with parsers, validators and model libraries",
    "in_spark.json": "Decode in Spark compared with hand-written jobs",
    "formats.json": "Every format compared with the bare parser of its encoding",
    "stream.json": "From Kafka to Delta compared with hand-written jobs",
}


def page() -> str:
    """Return the page of the plots, with the place and time of each measurement."""
    text = (
        "# Benchmarks in pictures\n\n"
        "Each bar shows how many times as long a program takes as the first of its group, on a\n"
        "logarithmic scale; blue is changewire. [Performance](../contributing/performance.md)\n"
        "explains the comparisons and where the time goes, and has the figures of Spark.\n"
        "The plots are drawn from the files in `benchmarks/results/` while the site is built;\n"
        "`python -m benchmarks --only formats --json benchmarks/results/formats.json` writes one.\n"
    )
    return text + "".join(_section(path) for path in _files())


def plots() -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of each plot."""
    for path in _files():
        yield f"bench-{path.stem}.svg", _plot(_timed(path))


def _files() -> list[Path]:
    return sorted(RESULTS.glob("*.json"))


def _timed(path: Path) -> list[Mapping[str, Any]]:
    """Return the results of times; memory is in tables only."""
    return [found for found in json.loads(path.read_bytes())["results"] if "seconds" in found]


def _section(path: Path) -> str:
    found = json.loads(path.read_bytes())
    load = f"{found['load_before']} before, {found['load_after']} after"
    return (
        f"\n## {_TITLES[path.name]}\n\n![Bars of ratios](bench-{path.stem}.svg)\n\n"
        f"{found['machine']}. Load of the last minute: {load}.\n"
        "If the load exceeds the number of cores, times are too long, and ratios less certain.\n"
    )


def _plot(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the groups of a result file, one above the other."""
    heights = [_TITLE + _BAR * len(result["seconds"]) for result in results]
    figure = Figure(figsize=(_WIDTH / _DPI, sum(heights) / _DPI), dpi=_DPI, facecolor="white")
    FigureCanvasSVG(figure)
    grid = figure.subplots(len(results), 1, squeeze=False, height_ratios=heights)
    for (axes,), result in zip(grid, results, strict=True):
        _group(axes, result)
    top = 1 - 24 / sum(heights)
    figure.subplots_adjust(left=0.34, right=0.9, top=top, bottom=0.01, hspace=0.35)
    file = io.BytesIO()
    with mpl.rc_context(_SETTINGS):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue().decode()


def _group(axes: Axes, result: Mapping[str, Any]) -> None:
    """Draw the ratios of one group, each behind its bar."""
    least = {name: min(rounds) for name, rounds in result["seconds"].items()}
    names = sorted(least, key=lambda name: name != result["base"])
    ratios = [least[name] / least[result["base"]] for name in names]
    colours = [_THEIRS if _PEER.match(name) else _OURS for name in names]
    smallest = min(ratios) / 2
    axes.barh(names, [r - smallest for r in ratios], left=smallest, color=colours, height=0.7)
    axes.set_xscale("log")
    axes.set_xlim(smallest, max(*ratios, 4))
    axes.invert_yaxis()
    axes.axvline(1, color=_INK, linewidth=0.8)
    axes.set_title(result["title"], loc="left", fontsize=12, color=_INK, x=-0.5)
    for place, ratio in enumerate(ratios):
        text = f"  {ratio:.2f}" if ratio < 10 else f"  {ratio:,.0f}"  # noqa: PLR2004
        axes.text(ratio, place, text, va="center", color=_INK, fontsize=10)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelbottom=False, which="both")
