"""Options for the messages of one vendor: declared once, and taken from there."""

import inspect
from typing import Any

import pytest
import typer
from tests.runtime.changes import lindorm

import changewire as cw
from changewire.changes import DecodeOptions
from changewire.changes.adapters import formats_with
from changewire.changes.vendors import VENDOR_OPTIONS, without_defaults
from changewire.cli.app import app

GIVEN: dict[str, Any] = {
    "blob_bins": ["photo"],
    "check_digests": "warn",
    "column_families": ["f"],
    "metadata_key": "meta",
    "time_zone": "Asia/Tokyo",
}
"""A value of each option that is not its default."""


def commands(group: Any) -> Any:
    """Yield the commands of a group, and of the groups in it."""
    for name in group.commands:
        found = group.get_command(None, name)
        yield from commands(found) if hasattr(found, "commands") else [found]


def test_each_option_has_a_value_here() -> None:
    """The values below are of all options."""
    assert GIVEN.keys() == VENDOR_OPTIONS.keys()


@pytest.mark.parametrize("name", GIVEN)
def test_an_option_is_for_the_formats_that_name_it(name: str) -> None:
    """They take it, a topic of several formats does, and all others say which formats take it."""
    takes = [*formats_with(name)]
    assert takes
    given = {name: GIVEN[name]}
    for one in (*takes, "auto"):
        assert without_defaults(DecodeOptions(one, **given).vendor) == given
    for one in {*formats_with("row_image")} - {*takes}:
        refused = f"^{name} does not apply to {one}: it is for {', '.join(takes)}$"
        with pytest.raises(ValueError, match=refused):
            DecodeOptions(one, **given)


def test_an_option_that_no_vendor_declares_is_refused() -> None:
    """It is an error at once, as for any function."""
    unknown: dict[str, Any] = {"colour": "red"}
    with pytest.raises(TypeError, match="no option 'colour'"):
        DecodeOptions("lindorm-json", **unknown)


@pytest.mark.parametrize("name", ["tombstones", "elements_as", "format"])
def test_changes_of_a_model_have_no_options_of_records(name: str) -> None:
    """They are refused, as an option of no vendor is, and not passed over."""
    given: dict[str, Any] = {name: "delete"}
    with pytest.raises(TypeError, match=f"no option '{name}'"):
        cw.changes(lindorm.message("u", after={}), **given)


def test_commands_that_decode_rows_have_each_option() -> None:
    """A command that takes key columns by more than their names has the flags of all vendors."""
    found = list(commands(typer.main.get_command(app)))
    decoding = [one for one in found if "column_families" in {p.name for p in one.params}]
    assert {one.name for one in decoding} == {"run", "stream", "replay", "decode", "infer"}
    for command in decoding:
        flags = {p.name: (p.opts, p.help) for p in command.params}
        for name, option in VENDOR_OPTIONS.items():
            assert flags[name] == ([option.flag], option.help)
        taken = inspect.signature(inspect.unwrap(command.callback)).parameters
        assert VENDOR_OPTIONS.keys() <= taken.keys()
