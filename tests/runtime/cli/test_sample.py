"""``changewire sample``: valid messages of a format."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.cli.conftest import Ended

import changewire as cw
from changewire.framing import read

Cli = Callable[..., Ended]


@pytest.mark.parametrize("format", cw.formats())
def test_samples_are_valid_messages_of_their_format(
    program: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: Path, format: str
) -> None:
    """Every message is valid, and so many are written as asked for."""
    for more, number in (((), None), (("--number", "7"), 7)):
        done = program("sample", format, *more)
        assert done.returncode == 0, done.stderr
        file = tmp_path / "in"
        file.write_bytes(done.stdout)
        values = [record.value or b"" for record in read(str(file))]
        assert number in {None, len(values)}
        assert values
        assert [cw.validate(value, format=format) for value in values] == [[]] * len(values)


def test_an_unknown_format_is_wrong_usage(cli: Cli) -> None:
    """The formats that exist are named."""
    ended = cli("sample", "nothing")
    assert (ended.exit_code, "lindorm-json" in ended.stderr) == (2, True)
