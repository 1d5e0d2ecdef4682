"""What report.json holds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from changewire.engines.outcome import Outcome
from changewire.report.write import summary, write

KEYS = [
    "messages",
    "elements",
    "changes",
    "controls",
    "dead_letters",
    "by_operation",
    "by_table",
    "by_error_code",
    "by_hour",
    "leniencies",
    "seconds",
    "start_seconds",
    "read_seconds",
    "messages_per_second",
    "input",
    "format",
    "engine",
    "version",
    "first_dead_letters",
]


def test_a_report_has_its_keys(hostile: Outcome) -> None:
    """Programs find every count, the run's circumstances and the first dead letters."""
    report = summary(hostile)
    assert set(KEYS) <= report.keys()
    assert report["messages_per_second"] == round(report["messages"] / 1.5, 1)


def test_the_rate_is_by_the_time_to_read(hostile: Outcome) -> None:
    """The start of an engine stands beside the read, and does not slow it down."""
    report = summary(replace(hostile, seconds=12.0, start_seconds=10.0))
    assert (report["seconds"], report["start_seconds"], report["read_seconds"]) == (12.0, 10.0, 2.0)
    assert report["messages_per_second"] == report["messages"] / 2


def test_texts_are_bounded_and_visible(hostile: Outcome) -> None:
    """No name makes a report large, or acts on the terminal that it is shown on."""
    text = json.dumps(summary(hostile), ensure_ascii=False)
    assert text.isprintable()
    assert len(text) < 40_000


def test_names_that_become_the_same_are_counted_together(hostile: Outcome) -> None:
    """Shortening loses no count."""
    hostile.counts.by_table.clear()
    hostile.counts.by_table.update({"x" * 200 + "a": 1, "x" * 200 + "b": 2})
    assert list(summary(hostile)["by_table"].values()) == [3]


def test_values_are_there_only_where_the_outcome_has_them(hostile: Outcome) -> None:
    """A dead letter without value gets none; one with a value shows its start."""
    assert summary(hostile)["first_dead_letters"][0]["value"].startswith("<script>")
    bare = [{k: v for k, v in item.items() if k != "value"} for item in hostile.first_dead_letters]
    letters = summary(replace(hostile, first_dead_letters=bare))["first_dead_letters"]
    assert all("value" not in letter for letter in letters)


def test_a_run_in_no_time_has_a_speed(hostile: Outcome) -> None:
    """A clock that did not move divides by nothing."""
    assert summary(replace(hostile, seconds=0.0))["messages_per_second"] > 0


def test_files_are_whole_and_replaced(hostile: Outcome, tmp_path: Path) -> None:
    """Both files are written over older ones, and nothing else stays behind."""
    outcome = replace(hostile, output=str(tmp_path))
    (tmp_path / "report.json").write_text("old", encoding="utf-8")
    write(outcome)
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert found == json.loads(json.dumps(summary(outcome)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json"]
