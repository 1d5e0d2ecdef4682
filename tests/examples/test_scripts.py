"""The scripts in ``examples/`` do what they say."""

import io
import os
import re
import subprocess
import sys

import pytest
from examples.demo.screen import command
from examples.make_messages import FOLDERS
from examples.make_messages import ROOT as EXAMPLES
from rich.console import Console

import changewire as cw

ROOT = EXAMPLES.parent


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


@pytest.fixture(scope="module", name="screen")
def run_demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run the demo without colours, and return its screen."""
    output = tmp_path_factory.mktemp("demo")
    program = [sys.executable, "-m", "examples.demo", str(output)]
    environment = {**os.environ, "COLUMNS": "80"}
    run = subprocess.run(
        program, capture_output=True, check=True, cwd=ROOT, env=environment, encoding="utf-8"
    )
    assert sorted(path.name for path in output.iterdir()) == sorted(FOLDERS)
    return run.stdout


def test_demo_tells_what_happened(screen: str) -> None:
    """One sentence stands on top, then what became of the elements."""
    words = " ".join(screen.split())
    systems = "Aerospike, DataWorks and Lindorm"
    assert words.startswith(f"changewire read 4,770 messages that {systems} write to Kafka")
    assert "4,982 elements = 4,866 changes + 48 control events + 68 dead letters" in words


@pytest.mark.parametrize("name", [*cw.formats(), "mixed topic"])
def test_demo_counts_each_format(screen: str, name: str) -> None:
    """A line for each format says what became of its messages, and the numbers add up."""
    (line,) = re.findall(rf"^{name}((?: +[0-9,]+){{5}})$", screen, re.MULTILINE)
    messages, elements, *rest = [int(number.replace(",", "")) for number in line.split()]
    assert elements == sum(rest)
    assert elements >= messages > 0


@pytest.mark.parametrize("name", cw.formats())
def test_demo_shows_a_change_of_each_format(screen: str, name: str) -> None:
    """A change of each format stands beside its message, and a record of the mixed topic."""
    (section,) = re.findall(rf"^  {name}: (.*?)\n +\n", screen, re.DOTALL | re.MULTILINE)
    assert re.search(r"^    op +\w+", section, re.MULTILINE)
    assert re.search(rf"^ +\d+ .* {name} +\w+ of ", screen, re.MULTILINE)


def test_demo_shows_dead_letters_and_what_to_try(screen: str) -> None:
    """A line for each reason, the reports, and three commands to try."""
    assert "unknown-variant" in screen
    assert "report.html" in screen
    assert screen.count("  $ ") == 3


def test_commands_are_not_wrapped() -> None:
    """A command that is longer than the terminal is wide can be pasted, also with brackets."""
    text = f"changewire run '{{table}}' [a] {'long ' * 40}--end"
    shown = io.StringIO()
    command(Console(file=shown, width=30), text)
    assert shown.getvalue() == f"  $ {text}\n"


def test_commands_of_the_demo_run(screen: str) -> None:
    """What the demo tells to try works in the folder that it was run from."""
    words = " ".join(screen.partition("what to try next")[2].split())
    _, validate, changes, quickstart = words.split("$ ")
    assert quickstart.endswith("python examples/quickstart.py")
    for line in (validate, changes):
        arguments = line.partition("changewire ")[2].partition(" | ")[0].split()
        run = subprocess.run(
            [sys.executable, "-m", "changewire.cli", *arguments],
            capture_output=True,
            check=False,
            cwd=ROOT,
            encoding="utf-8",
        )
        assert run.returncode == 1  # some of the messages are damaged
        assert run.stdout


def test_demo_fits_a_terminal_without_colours(screen: str) -> None:
    """Eighty columns are enough but for commands to paste, and a pipe gets plain text."""
    lines = [line for line in screen.splitlines() if not line.startswith("  $ ")]
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in screen
