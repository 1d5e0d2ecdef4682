"""What people see: the commands in a real terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.samples import FORMAT
from tests.support.terminal import COLOUR, changewire, ended, plain, program_in, spawn, styled

import changewire as cw

NARROW = 40
SHOWN_CURSOR = "\x1b[?25h"


def test_tables_fit_the_terminal() -> None:
    """No line of a table is wider than a narrow terminal, and no name is cut off."""
    shown, code = ended(changewire("schema", "list", columns=NARROW))
    assert code == 0
    assert max(map(cell_len, plain(shown))) <= NARROW
    assert all(name in shown for name in cw.formats())


def test_a_narrow_terminal_gets_lines(good: Path) -> None:
    """Where a table could not be read each field is a line, as in a pipe."""
    shown, code = ended(changewire("explain", good, columns=NARROW))
    assert code == 0
    assert any(line.split()[:1] == ["digest:"] for line in plain(shown))


@pytest.mark.parametrize(
    ("variables", "is_coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False)],
    ids=str,
)
def test_colours_are_for_terminals_that_want_them(
    mixed: Path, variables: dict[str, str], *, is_coloured: bool
) -> None:
    """A terminal shows refusals in red, unless NO_COLOR is set."""
    shown, _ = ended(changewire("decode", "-f", FORMAT, mixed, variables=variables))
    assert bool(COLOUR.search(shown)) == is_coloured


def test_colours_can_be_forced_into_a_pipe(mixed: Path) -> None:
    """With FORCE_COLOR a pipe gets colours too, for `less -R`; data has none all the same."""
    command = [sys.executable, "-m", "changewire.cli", "decode", "-f", FORMAT, str(mixed)]
    forced = {**os.environ, "FORCE_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=forced)
    assert COLOUR.search(done.stderr)
    assert not COLOUR.search(done.stdout)


def test_progress_is_shown_and_interrupted(tmp_path: Path) -> None:
    """Progress turns while messages are awaited; Ctrl-C ends it cleanly, and writes no table."""
    output = tmp_path / "out"
    program = changewire("run", "-f", FORMAT, "-o", output, "-")
    program.expect("reading and decoding")
    program.expect("0:00:01")
    program.sendintr()
    shown, code = ended(program)
    assert code == 130
    assert "Traceback" not in shown
    assert SHOWN_CURSOR in shown
    assert not (output / "changes").exists()


def test_counts_follow_progress(tmp_path: Path) -> None:
    """Messages may be typed, and Ctrl-D is the end; the only one is a dead letter."""
    output = tmp_path / "out"
    program = changewire("run", "-f", FORMAT, "-o", output, "-")
    program.expect("reading and decoding")
    program.sendline('{"msg": 1}')
    program.sendeof()
    shown, code = ended(program)
    assert code == 1
    lines = plain(shown)
    assert ["1", "messages"] in [line.split() for line in lines]
    assert any("report: " in line for line in lines)


def test_a_closed_pipe_is_quiet_in_a_shell(tmp_path: Path) -> None:
    """A pipe that ends early is a matter of the shell's: no word, and the usual exit code."""
    bash = spawn("bash", "--norc", folder=program_in(tmp_path))
    bash.sendline(
        "./changewire schema list 2>all | true; echo codes ${PIPESTATUS[0]}; cat all; exit"
    )
    shown, _ = ended(bash)
    assert "codes 141" in shown
    assert "Error" not in shown
    assert "Traceback" not in shown


SHELLS = {
    "bash": (
        ("--norc", "--noprofile"),
        "",
        'eval "$(_CHANGEWIRE_COMPLETE=source_bash changewire)"',
    ),
    "zsh": (
        ("-f",),
        "autoload -Uz compinit; compinit -u -D",
        'eval "$(_CHANGEWIRE_COMPLETE=source_zsh changewire)"',
    ),
    "fish": (("--no-config",), "", "_CHANGEWIRE_COMPLETE=source_fish changewire | source"),
}
"""How a shell starts without a user's settings, prepares completion, and loads ours."""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_tab_key_completes(shell: str, tmp_path: Path) -> None:
    """Names that an option takes, and files, are completed."""
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    arguments, prepared, loaded = SHELLS[shell]
    (tmp_path / "topic.jsonl").touch()
    search = f"{program_in(tmp_path)}:/usr/bin:/bin"
    own = {"PATH": search, "HOME": str(tmp_path)}
    program = spawn(path, *arguments, variables=own, folder=tmp_path, columns=200)
    program.sendline(prepared)
    program.sendline(loaded)
    program.sendline("echo is''ready")
    program.expect("isready")
    for typed, completed in (
        ("changewire decode -f lin", "dorm-json "),
        ("top", "ic.jsonl"),
    ):
        program.send(f"{typed}\t")
        program.expect(styled(completed))
    program.close(force=True)
