"""Charts: bars whose lengths follow the counts, and labels that fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changewire.report.charts import BARS, WIDTH, Chart, fitted, ranking, short, timeline
from changewire.report.hours import Series

COUNTS = st.lists(st.integers(0, 10**12), min_size=1, max_size=BARS)


def along_time(counts: list[int]) -> Chart:
    """Return the chart of counts by hour."""
    steps = [(f"2026-01-01 {hour:02}:00", count) for hour, count in enumerate(counts)]
    return timeline("Changes by hour", Series("hour", steps, 0, 0))


@given(COUNTS)
def test_the_length_of_a_bar_follows_its_count(counts: list[int]) -> None:
    """Twice the count is twice the length, in both charts, and no bar leaves the drawing."""
    most = max(counts) or 1
    rows, steps = ranking("Tables", [(str(i), c) for i, c in enumerate(counts)]), along_time(counts)
    for lengths in ([b.width for b in rows.bars], [b.height for b in steps.bars]):
        longest = max(lengths)
        assert lengths == [pytest.approx(longest * c / most, abs=0.1) for c in counts]
        assert max(counts) == 0 or longest > 100
    for chart in (rows, steps):
        assert all(0 <= bar.x <= bar.x + bar.width <= WIDTH for bar in chart.bars)
        assert all(0 <= bar.y <= bar.y + bar.height <= chart.height for bar in chart.bars)


@given(COUNTS)
def test_bars_stand_on_the_axis(counts: list[int]) -> None:
    """The bars of a timeline end on one line, one beside the other, in the order of time."""
    chart = along_time(counts)
    assert {round(bar.y + bar.height, 6) for bar in chart.bars} == {chart.axis}
    assert all(a.x + a.width <= b.x for a, b in zip(chart.bars, chart.bars[1:], strict=False))


def test_each_bar_has_its_name_and_count() -> None:
    """A ranking labels each bar on both sides, at the height of its middle."""
    chart = ranking("Tables", [("orders", 12_345), ("users", 2)])
    assert [label.text for label in chart.labels] == ["orders", "12.3k", "users", "2"]
    middles = [bar.y + bar.height / 2 for bar in chart.bars for _ in range(2)]
    assert [label.y for label in chart.labels] == middles


def test_the_peak_and_the_ends_of_a_timeline_are_labelled() -> None:
    """The highest count stands above its bar, first and last step below theirs."""
    labels = {label.text: label for label in along_time([1, 2, 30_000, 4] + [0] * 8).labels}
    assert labels.keys() == {"30.0k", "2026-01-01 00:00", "2026-01-01 11:00"}
    assert labels["2026-01-01 11:00"].x == WIDTH
    assert labels["2026-01-01 11:00"].anchor == "end"


@pytest.mark.parametrize(("peak", "anchor"), [(0, "start"), (5, "middle"), (11, "end")])
def test_the_label_of_a_peak_stays_inside(peak: int, anchor: str) -> None:
    """Near an end of the chart the count of the highest bar is aligned to the bar's outer side."""
    counts = [int(step == peak) for step in range(12)]
    assert along_time(counts).labels[0].anchor == anchor


def test_a_chart_has_words() -> None:
    """Who cannot see a chart reads its names and counts."""
    assert ranking("Tables", [("orders", 12_345), ("users", 2)]).description == (
        "orders: 12,345; users: 2"
    )
    assert along_time([1, 2]).description == (
        "From 2026-01-01 00:00 to 2026-01-01 01:00; most in 2026-01-01 01:00: 2"
    )


def test_bars_are_bounded() -> None:
    """A stream of many tables gives a chart of few."""
    assert len(ranking("Tables", [(str(i), 1) for i in range(99)]).bars) == BARS


@pytest.mark.parametrize("counts", [[], [0]])
def test_nothing_has_a_chart(counts: list[int]) -> None:
    """No count at all, or only zeros, give bars without length."""
    chart = ranking("Tables", [("a", count) for count in counts])
    assert [bar.width for bar in chart.bars] == counts
    assert [bar.height for bar in along_time(counts).bars] == counts


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
