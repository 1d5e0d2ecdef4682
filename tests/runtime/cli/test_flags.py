"""Errors of functions, in which parameters are named by the options of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.cli.conftest import Ended
from tests.runtime.engines.merge.messages import message

from changewire.cli.commands.history import history
from changewire.cli.commands.run import run
from changewire.cli.flags import flags_of, in_flags

Cli = Callable[..., Ended]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("name the columns by `key_columns`", "name the columns by --key-column"),
        ("key_columns does not apply to a", "--key-column does not apply to a"),
        ("max_dead_letters is 3. Stop", "--max-dead-letters is 3. Stop"),
        ("elements_as, row_image: no", "--as, --row-image: no"),
        ("needs `format`, and a format", "needs --format, and a format"),
        ("take it over by adopt_table=True", "take it over by changewire adopt"),
        ("by changewire.spark.adopt_table", "by changewire adopt"),
        ("column 'row_image' and lake/row_image", "column 'row_image' and lake/row_image"),
        ('shop.row_image, "row_image", `a`.`view`', 'shop.row_image, "row_image", `a`.`view`'),
        ("`batch_size` is none of them", "`batch_size` is none of them"),
    ],
)
def test_parameters_become_options(text: str, found: str) -> None:
    """Names between backticks and bare ones with an underscore, but not names of users."""
    assert in_flags(text, flags_of(run)) == found


def test_options_are_those_of_the_command() -> None:
    """A parameter that a command does not have stays as it is."""
    assert "max_dead_letters" in flags_of(run)
    assert in_flags("`key_columns`, `numbers`", flags_of(history)) == "--key-column, `numbers`"


def test_a_key_column_that_no_message_has(cli: Cli, tmp_path: Path, engine: str) -> None:
    """The column is named, the option, and the columns that there are; nothing is written."""
    file = tmp_path / "in.jsonl"
    file.write_bytes(message("INSERT", 1, {"id": 1, "name": "a"}))
    places = ("-o", tmp_path / "out", "--target", f"{tmp_path}/lake/{{table}}")
    words = ("run", "-f", "dataworks-json", "--engine", engine, *places)
    ended = cli(*words, "--key-column", "id", "--key-column", "nope", file)
    assert ended.exit_code == 2
    text = "no message has a column 'nope'; the columns of rows are: id, name; name those of the"
    assert f"{text} key by --key-column." in " ".join(ended.stderr.split())
    assert not (tmp_path / "lake").exists()
