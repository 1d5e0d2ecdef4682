"""Formats of other packages: found by entry points, read like ours, loaded when they are needed."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plugins.installing import PACKAGE, forget, install
from tests.plugins.shop import FORMAT

import changewire as cw
import changewire.arrow as cwa
from changewire.changes.decode_options import DecodeOptions
from changewire.codec.registry import unusable
from changewire.kafka import ChangewireDeserializer, ChangewireSerializer

PLACED = b'{"kind":"placed","order":1,"total":1.50}'
DROPPED = b'{"kind":"dropped","order":2,"new":true}'
BATCH = b"[" + PLACED + b"," + DROPPED + b',{"kind":"lost"}]'
PUT = bytes.fromhex("9300c391a161")
DELETE = b'{"msg":"delete","key":["n","s","YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",1],"durable":true}'

GROUP = "changewire.formats"


@pytest.mark.usefixtures("installed")
def test_messages_are_read_and_written() -> None:
    """Each function of the library takes the name of the format, or finds it by the message."""
    for data in (PLACED, DROPPED):
        message = cw.decode(data, format=FORMAT)
        assert cw.decode(data) == message
        assert cw.encode(message) == data.replace(b"1.50", b"1.5")
        assert pickle.loads(pickle.dumps(message)) == message  # noqa: S301 - our own
    assert dict(cw.decode(DROPPED, format=FORMAT).extra) == {"/new": True}
    assert cw.leniencies(cw.decode(DROPPED)) == ["unknown-property"]
    assert [type(m).__name__ for m in cw.decode_all(BATCH)] == ["Placed", "Dropped", "Rejection"]
    assert cw.detect(BATCH) == FORMAT
    (issue,) = cw.validate(b'{"kind":"placed","order":"x"}', format=FORMAT)
    assert (issue.pointer, issue.code) == ("/order", "wrong-type")
    assert cw.explain(PLACED).variant == "Placed"
    assert {FORMAT, "row-union"} < set(cw.formats())


@pytest.mark.usefixtures("installed")
def test_messages_in_messagepack_are_read_and_written() -> None:
    """A format in MessagePack is told by its first bytes, beside ours."""
    message = cw.decode(PUT)
    assert cw.detect(PUT) == "row-union"
    assert cw.encode(message) == PUT
    ((event, _),) = DecodeOptions("row-union").elements(PUT)
    assert isinstance(event, cw.Change)
    assert event.attributes == {"message": [0, True, ["a"]]}


@pytest.mark.usefixtures("installed")
def test_messages_have_typed_columns() -> None:
    """The columns of a message are those that the package was generated with."""
    messages, letters, _ = cwa.messages([BATCH], format=FORMAT).tables()
    assert messages.column("variant").to_pylist() == ["Placed", "Dropped"]
    assert [row["order"] for row in messages.column("content").to_pylist()] == [1, 2]
    assert letters.column("element").to_pylist() == [2]
    assert cwa.message_type("row-union").names == ["kind", "last", "body"]


@pytest.mark.usefixtures("installed")
def test_formats_of_ours_come_first() -> None:
    """No package changes what becomes of a message that a format of ours claims."""
    assert cw.detect(DELETE) == "aerospike-json"
    assert cw.detect(b'{"msg":"write","kind":"placed","order":1}') == "aerospike-json"
    with pytest.raises(cw.DecodeError, match="unknown-variant") as caught:
        cw.decode(b'{"other":1}')
    assert FORMAT in caught.value.expected


@pytest.mark.usefixtures("installed")
def test_kafka_clients_take_the_format() -> None:
    """A serializer proves messages of the format, and a header names it."""
    data = ChangewireSerializer(FORMAT)(cw.decode(PLACED))
    assert ChangewireDeserializer(FORMAT)(data) == cw.decode(PLACED)
    assert ChangewireDeserializer()(data) == cw.decode(PLACED)


def test_nothing_is_loaded_before_it_is_needed(installed: Path, made: Path) -> None:
    """Who reads messages of ours never imports a package of somebody else."""
    program = (
        "import sys, changewire as cw\n"
        f"cw.decode({DELETE!r}); cw.codec('lindorm-json'); cw.formats()\n"
        f"assert {PACKAGE!r} not in sys.modules\n"
        f"cw.decode({PLACED!r})\n"
        f"assert {PACKAGE!r} in sys.modules\n"
    )
    path = [str(installed), str(made), *sys.path]
    subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}\n{program}"], check=True
    )


def test_a_worker_gets_the_format_by_its_name(installed: Path, made: Path) -> None:
    """What decodes in Spark's workers pickles by name, and finds the package there."""
    from changewire.engines.decode import Decoder

    program = (
        "import pickle, pyarrow as pa\n"
        f"decoder = pickle.loads({pickle.dumps(Decoder(DecodeOptions(FORMAT)))!r})\n"
        f"values = pa.array([{PLACED!r}, {BATCH!r}, None, b'x'])\n"
        "for batch in decoder(pa.RecordBatch.from_pydict({'value': values})):\n"
        "    print(*batch.column('kind').to_pylist())\n"
    )
    expected = ["control"] * 3 + ["dead_letter", "control", "dead_letter"]
    assert run(program, installed, made) == expected


def run(program: str, *folders: Path) -> list[str]:
    """Run a program in a new process that has these folders on its path; return its words."""
    path = [*map(str, folders), *sys.path]
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}\n{program}"]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode().split()


BROKEN = {
    "missing": ("no_such_package.family", "ModuleNotFoundError"),
    "attribute": ("json:nothing", "AttributeError"),
    "function": ("json:dumps", "is not a family"),
    "other": ("json", "is not a family"),
    "misnamed": (f"{PACKAGE}.shop", "is the family of another"),
    "rows-only": (f"{PACKAGE}.rows", "is the family of another"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_package_that_cannot_be_used_matters_to_who_asks_for_it(
    name: str, installed: Path
) -> None:
    """Its name gives one clear error; every other format works as before."""
    value, reason = BROKEN[name]
    install(installed, "broken", {GROUP: {name: value}})
    forget()
    with pytest.raises(
        cw.FormatError, match=f"format '{name}'.*{reason}.*changewire schema generate"
    ):
        cw.codec(name)
    assert cw.detect(PLACED) == FORMAT
    assert cw.detect(DELETE) == "aerospike-json"
    assert list(unusable()) == [name]
    assert name in cw.formats()


def test_one_name_of_two_packages_is_nobodys(installed: Path) -> None:
    """Which of two packages is meant is never guessed."""
    points = {"twice": f"{PACKAGE}.shop"}
    install(installed, "one", {GROUP: points})
    install(installed, "same", {GROUP: points})
    forget()
    with pytest.raises(cw.FormatError, match="is the family of another"):
        cw.codec("twice")
    install(installed, "other", {GROUP: {"twice": f"{PACKAGE}.rows"}})
    forget()
    with pytest.raises(cw.FormatError, match=f"by {PACKAGE}.rows and {PACKAGE}.shop"):
        cw.codec("twice")


@pytest.mark.parametrize("name", ["aerospike-json", "auto", "unknown", "Shop", "a b"])
def test_names_of_ours_stay_ours(name: str, installed: Path) -> None:
    """A package that takes a name of ours, or a word in place of one, is passed over and named."""
    install(installed, "taker", {GROUP: {name: f"{PACKAGE}.shop"}})
    forget()
    assert unusable() == {
        name: f"the name {name!r} is taken, or no name of a format: {PACKAGE}.shop"
    }
    assert cw.formats().count(name) == (name == "aerospike-json")
    assert cw.codec("aerospike-json").models[0].__module__.startswith("changewire_messages.")


def test_a_package_installed_meanwhile_is_found(installed: Path) -> None:
    """Who asks for a name that was not there is not told what was true before."""
    with pytest.raises(ValueError, match="no format 'late'; there are: aerospike-flat-json"):
        cw.codec("late")
    install(installed, "late", {GROUP: {"late": "no_such_package"}})
    with pytest.raises(cw.FormatError, match="cannot be loaded"):
        cw.codec("late")
