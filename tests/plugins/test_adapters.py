"""What messages of other packages' formats mean for tables: an adapter of theirs says it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.plugins.installing import forget, install
from tests.plugins.shop import FORMAT
from tests.plugins.test_formats import BATCH, DROPPED, PLACED

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.merge.land import land
from changewire.engines.options import FileRun

GROUP = "changewire.adapters"
ADAPTERS = "tests.plugins.shop_adapter"

Adapt = Callable[[str], None]


@pytest.fixture
def adapt(installed: Path) -> Adapt:
    """Install an adapter by its name in the module of adapters."""

    def install_adapter(name: str) -> None:
        install(installed, "adapter", {GROUP: {FORMAT: f"{ADAPTERS}:{name}"}})
        forget()

    return install_adapter


def test_an_adapter_makes_changes(adapt: Adapt) -> None:
    """It gets message, record key and options, and its change is that of the message."""
    adapt("change")
    (change,) = cw.changes(cw.decode(PLACED), b"k", key_columns=["id"], row_image="patch")
    assert (change.op, change.key, change.after) == (
        "upsert",
        {"id": 1},
        {"order": 1, "total": 1.5},
    )
    assert change.attributes == {"row_image": "patch", "record_key": b"k"}
    ((deleted, used),) = DecodeOptions(FORMAT).elements(DROPPED)
    assert isinstance(deleted, cw.Change)
    assert (deleted.op, used) == ("delete", ["unknown-property"])
    assert cw.validate(PLACED, format=FORMAT) == []


def test_an_adapter_may_refuse(adapt: Adapt) -> None:
    """A DecodeError of an adapter is the error of the message, with its own code."""
    adapt("change")
    ((refused, _),) = DecodeOptions(FORMAT).elements(b'{"kind":"dropped","order":-1}')
    assert isinstance(refused, cw.Rejection)
    assert (refused.code, refused.pointer) == ("out-of-range", "/order")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("failing", "a change from the adapter, which raised KeyError"),
        ("nothing", "a change from the adapter"),
        ("wrong", "a change, with one of insert, update"),
        ("unwritable", "a change that JSON can represent"),
    ],
)
def test_an_adapter_that_fails_loses_no_message(name: str, expected: str, adapt: Adapt) -> None:
    """What it makes that is no change refuses the message; no value of it is told."""
    adapt(name)
    secret = b'{"kind":"placed","order":4711,"total":0.5}'
    ((refused, _),) = DecodeOptions(FORMAT).elements(secret)
    assert isinstance(refused, cw.Rejection)
    assert refused.code == "adapter-failed"
    assert refused.reasons[0].expected.startswith(expected)
    assert "4711" not in refused.message + refused.reasons[0].expected


@pytest.mark.usefixtures("installed")
def test_without_an_adapter_a_message_still_lands() -> None:
    """Who asks for changes is told that there are none; landing keeps the message as an event."""
    with pytest.raises(ValueError, match=r"store-json has no adapter: .* changewire\.adapters"):
        cw.changes(cw.decode(PLACED))
    assert cw.validate(PLACED, format=FORMAT) == []
    ((event, used),) = DecodeOptions(FORMAT).elements(DROPPED)
    assert isinstance(event, cw.Change)
    assert (event.op, event.source.system, used) == ("other", "store", ["unknown-property"])
    message = event.attributes["message"]
    assert message == {"kind": "dropped", "order": 2, "@extra": {"/new": True}}


@pytest.mark.parametrize(
    "target", ["no_such_module:f", "json:nothing", "json:__name__", "json:loads"]
)
def test_an_adapter_that_cannot_be_loaded_is_named(target: str, installed: Path) -> None:
    """It stops who reads the format: all its messages would be lost for one reason."""
    install(installed, "adapter", {GROUP: {FORMAT: target}})
    forget()
    with pytest.raises(cw.FormatError, match="the adapter of 'store-json'"):
        DecodeOptions(FORMAT).elements(PLACED)


def test_two_adapters_are_none(installed: Path) -> None:
    """Which of two is meant is never guessed."""
    for name in ("change", "wrong"):
        install(installed, name, {GROUP: {FORMAT: f"{ADAPTERS}:{name}"}})
    forget()
    with pytest.raises(cw.FormatError, match="adapters of 'store-json' are brought by"):
        cw.changes(cw.decode(PLACED))


OTHER_THAN_DEFAULT: dict[str, Any] = {
    "row_image": "patch",
    "key_columns": ["order"],
    "column_families": ["f"],
    "check_digests": "warn",
    "tombstones": "delete",
}
"""A value of each option that is not its default."""


@pytest.mark.parametrize("option", OTHER_THAN_DEFAULT)
@pytest.mark.parametrize(
    ("name", "heeded"),
    [
        ("change", {"row_image", "key_columns", "tombstones"}),
        ("deaf", set[str]()),
        (None, set[str]()),
    ],
)
def test_an_option_that_an_adapter_does_not_name_is_refused(
    name: str | None, heeded: set[str], option: str, adapt: Adapt
) -> None:
    """No option is ignored in silence: without an adapter that heeds it, it is an error."""
    if name is not None:
        adapt(name)
    options = {option: OTHER_THAN_DEFAULT[option]}
    if option in heeded:
        DecodeOptions(FORMAT, **options)
        return
    with pytest.raises(ValueError, match=f"{option} does not apply to store-json: .+"):
        DecodeOptions(FORMAT, **options)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("change", "it is for lindorm-json"), ("deaf", "orders have numbers"), (None, "no adapter")],
)
def test_the_error_of_an_option_says_why(name: str | None, reason: str, adapt: Adapt) -> None:
    """An adapter may give its reason; otherwise the error names what is missing."""
    if name is not None:
        adapt(name)
    option: dict[str, Any] = (
        {"key_columns": ["id"]} if name == "deaf" else {"column_families": ["f"]}
    )
    with pytest.raises(ValueError, match=reason):
        DecodeOptions(FORMAT, **option)


def test_an_adapter_makes_deletes_of_records_without_value(adapt: Adapt) -> None:
    """Its function gets the key of the record; a key that it refuses is a dead letter."""
    adapt("change")
    options = DecodeOptions(FORMAT, tombstones="delete")
    (((gone, _),), ((refused, _),)) = (options.elements(None, key) for key in (b"7", b"x"))
    assert isinstance(gone, cw.Change)
    assert (gone.op, gone.key) == ("delete", {"order": 7})
    assert gone == cw.delete_by_key(b"7", format=FORMAT)
    assert isinstance(refused, cw.Rejection)
    assert refused.code == "invalid-record-key"


def test_the_system_of_a_format_is_named_by_its_adapter(adapt: Adapt) -> None:
    """Empty messages are of that system, whatever the format is called."""
    adapt("change")
    ((empty, _),) = DecodeOptions(FORMAT).elements(None)
    assert isinstance(empty, cw.Change)
    assert (empty.op, empty.source.system) == ("empty", "shop")


@pytest.mark.parametrize(("name", "kinds"), [("change", (3, 0, 3)), (None, (0, 3, 3))])
def test_every_message_is_counted(
    name: str | None, kinds: tuple[int, int, int], adapt: Adapt, tmp_path: Path
) -> None:
    """A run lands each element as change, control event or dead letter, with an adapter or none."""
    if name is not None:
        adapt(name)
    lines = [PLACED, BATCH, b"{", b'{"kind":"dropped","order":"x"}']
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    out = tmp_path / "out"
    outcome = land([str(tmp_path / "in.jsonl")], str(out), FileRun(DecodeOptions(FORMAT)))
    counts = outcome.counts
    assert (counts.changes, counts.controls, counts.dead_letters) == kinds
    assert counts.elements == sum(kinds)
    written = pq.read_table(out)["kind"].to_pylist()
    assert written.count("change" if name else "control") == 3
