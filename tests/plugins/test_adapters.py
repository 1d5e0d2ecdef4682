"""What messages of other packages' formats mean for tables: an adapter of theirs says it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.plugins.installing import forget, install
from tests.plugins.shop import FORMAT
from tests.plugins.test_formats import BATCH, DROPPED, PLACED

import changewire as cw
from changewire.changes.reading import Reading
from changewire.engines.python import run

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
    """It gets message, record key, key columns and image, and its change is that of the message."""
    adapt("change")
    (change,) = cw.changes(cw.decode(PLACED), b"k", keys=["id"], image="patch")
    assert (change.op, change.key, change.after) == (
        "upsert",
        {"id": 1},
        {"order": 1, "total": 1.5},
    )
    assert change.attributes == {"image": "patch", "record_key": b"k"}
    ((deleted, used),) = Reading(FORMAT).elements(DROPPED)
    assert isinstance(deleted, cw.Change)
    assert (deleted.op, used) == ("delete", ["unknown-property"])
    assert cw.validate(PLACED, format=FORMAT) == []


def test_an_adapter_may_refuse(adapt: Adapt) -> None:
    """A DecodeError of an adapter is the error of the message, with its own code."""
    adapt("change")
    ((refused, _),) = Reading(FORMAT).elements(b'{"kind":"dropped","order":-1}')
    assert isinstance(refused, cw.Rejection)
    assert (refused.code, refused.pointer) == ("out-of-range", "/order")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("failing", "a change from the adapter, which raised KeyError"),
        ("nothing", "a change from the adapter"),
        ("wrong", "a change, with one of insert, update"),
        ("unwritable", "a change that JSON can hold"),
    ],
)
def test_an_adapter_that_fails_loses_no_message(name: str, expected: str, adapt: Adapt) -> None:
    """What it makes that is no change refuses the message; no value of it is told."""
    adapt(name)
    secret = b'{"kind":"placed","order":4711,"total":0.5}'
    ((refused, _),) = Reading(FORMAT).elements(secret)
    assert isinstance(refused, cw.Rejection)
    assert refused.code == "adapter-failed"
    assert refused.reasons[0].expected.startswith(expected)
    assert "4711" not in refused.message + refused.reasons[0].expected


@pytest.mark.usefixtures("installed")
def test_without_an_adapter_a_message_still_lands() -> None:
    """Who asks for changes is told that there are none; landing keeps the message as an event."""
    with pytest.raises(ValueError, match=r"messages of store-json .* changewire\.adapters"):
        cw.changes(cw.decode(PLACED))
    assert cw.validate(PLACED, format=FORMAT) == []
    ((event, used),) = Reading(FORMAT).elements(DROPPED)
    assert isinstance(event, cw.Change)
    assert (event.op, event.source.system, used) == ("other", "store", ["unknown-property"])
    message = event.attributes["message"]
    assert message == {"kind": "dropped", "order": 2, "@extra": {"/new": True}}


@pytest.mark.parametrize("target", ["no_such_module:f", "json:nothing", "json:__name__"])
def test_an_adapter_that_cannot_be_loaded_is_named(target: str, installed: Path) -> None:
    """It stops who reads the format: all its messages would be lost for one reason."""
    install(installed, "adapter", {GROUP: {FORMAT: target}})
    forget()
    with pytest.raises(cw.FormatError, match="the adapter of 'store-json'"):
        Reading(FORMAT).elements(PLACED)


def test_two_adapters_are_none(installed: Path) -> None:
    """Which of two is meant is never guessed."""
    for name in ("change", "wrong"):
        install(installed, name, {GROUP: {FORMAT: f"{ADAPTERS}:{name}"}})
    forget()
    with pytest.raises(cw.FormatError, match="adapters of 'store-json' are brought by"):
        cw.changes(cw.decode(PLACED))


@pytest.mark.usefixtures("installed")
def test_options_of_our_formats_alone_are_refused() -> None:
    """An option that means nothing for the format is an error, as it is for ours."""
    with pytest.raises(ValueError, match="digests does not apply to store-json"):
        Reading(FORMAT, digests="count")
    with pytest.raises(ValueError, match="families does not apply to store-json"):
        Reading(FORMAT, families=["f"])
    Reading(FORMAT, keys=["order"], image="patch")


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
    outcome = run([str(tmp_path / "in.jsonl")], str(out), reading=Reading(FORMAT))
    counts = outcome.counts
    assert (counts.changes, counts.controls, counts.dead_letters) == kinds
    assert counts.elements == sum(kinds)
    (written,) = (
        (out / "changes").glob("*.parquet") if name else (out / "controls").glob("*.parquet")
    )
    assert pq.read_table(written).num_rows == 3
