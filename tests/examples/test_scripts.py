"""The scripts in ``examples/`` do what they say."""

import subprocess
import sys
from pathlib import Path

import pytest
from examples import demo

from changewire import job

ROOT = Path(demo.__file__).parent.parent


def test_quickstart() -> None:
    """The quickstart decodes, shows a change, encodes and validates."""
    script = ROOT / "examples" / "quickstart.py"
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert [line.partition(":")[0] for line in run.stdout.splitlines()] == [
        "decoded",
        "change",
        "encoded",
        "issue",
        "issue",
    ]
    assert "encoded: True" in run.stdout


@pytest.fixture(name="screen")
def run_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Run the demo where there is no Java, without colours, and return its screen."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(job, "spark_lacks", lambda: "No Java 17 or newer was found")
    demo.main([str(tmp_path)])
    return capsys.readouterr().out


def test_demo_tells_what_happened(screen: str) -> None:
    """One sentence stands on top, then what became of the elements, and what runs without Java."""
    words = " ".join(screen.split())
    assert words.startswith("changewire read 2,576 messages that Aerospike put on Kafka")
    assert "2,740 elements = 2,711 changes + 4 control events + 25 dead letters" in words
    assert "No Java 17 or newer was found" in words


def test_demo_shows_changes_and_dead_letters(screen: str, tmp_path: Path) -> None:
    """Three changes, a line for each reason, the report, and three commands to try."""
    assert screen.count("    op ") == 3
    assert "unknown-variant" in screen
    assert str(tmp_path / "report.html") in "".join(screen.split())
    assert screen.count("  $ ") == 3


def test_demo_fits_a_terminal_without_colours(screen: str) -> None:
    """Eighty columns are enough, and a pipe gets plain text."""
    assert max(map(len, screen.splitlines())) <= 80
    assert "\x1b" not in screen
