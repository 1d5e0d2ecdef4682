"""Charts: shapes and text, nothing else."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from tests.runtime.report.conftest import HOSTILE

from changewire.report.charts import BARS, fitted, ranking, short, timeline

ATTRIBUTES = {"viewBox", "role", "d", "x", "y", "class", "text-anchor"}


def parts(svg: str) -> list[ET.Element]:
    """Return the elements of a chart."""
    return list(ET.fromstring(svg).iter())  # noqa: S314 - our own chart


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text(name: str) -> None:
    """Whatever the name, the chart has bars and texts, and nothing that loads or runs."""
    for svg in (ranking([(name, 3), ("b", 1)]), timeline([("a", 3), ("b", 1)])):
        assert {element.tag for element in parts(svg)} == {"svg", "path", "text"}
        assert {key for element in parts(svg) for key in element.attrib} <= ATTRIBUTES


def test_dollars_are_no_formula() -> None:
    """A table whose name is a formula is shown by its name."""
    texts = [element.text for element in parts(ranking([(r"$\frac{a}{b}$", 1)]))]
    assert r"$\frac{a}{b}$" in texts


def test_bars_are_bounded() -> None:
    """A stream of many tables gives a chart of few."""
    bars = [e for e in parts(ranking([(str(i), 1) for i in range(99)])) if e.get("class") == "bar"]
    assert len(bars) == BARS


def test_a_chart_is_the_same_each_time() -> None:
    """Nothing of time, chance or machine is in a chart."""
    assert ranking([("a", 2), ("b", 1)]) == ranking([("a", 2), ("b", 1)])


@pytest.mark.parametrize("counts", [[], [("a", 0)]])
def test_nothing_has_a_chart(counts: list[tuple[str, int]]) -> None:
    """No count at all, or only zeros, are drawn without complaint."""
    assert "viewBox" in ranking(counts)
    assert "viewBox" in timeline(counts)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (12_345, "12.3k"),
        (123_456, "123k"),
        (999_999, "1000k"),
        (1_234_567, "1.2M"),
        (10**12, "1000G"),
    ],
)
def test_counts_are_short(count: int, text: str) -> None:
    """A count fits beside its bar."""
    assert short(count) == text


def test_labels_fit() -> None:
    """Wide letters count twice, and what is cut off is marked."""
    assert fitted("short") == "short"
    assert fitted("x" * 99) == "x" * 19 + "…"
    assert fitted("表" * 99) == "表" * 9 + "…"
