"""The kernel as engines use it: what it is given, when it is left aside, what it counts."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.types import LongType, StructField, StructType
from tests.native.differential import (
    FORMATS,
    batch_of,
    compare,
    compared,
    kernel,
    needs_kernel,
    rows,
)
from tests.runtime.codec.formats import JSON_FORMATS

import changewire.arrow as cwa
from changewire.changes.decode_options import DecodeOptions
from changewire.cli import findings
from changewire.engines import native
from changewire.engines.decode import Decoder
from changewire.engines.merge.land import land
from changewire.engines.options import FileRun
from changewire.engines.spark.types import struct_columns
from changewire.engines.typed.decode import TypedDecoder

pytestmark = needs_kernel

GOOD = JSON_FORMATS["aerospike-json"].good
OPTIONS = DecodeOptions("aerospike-json")


@pytest.mark.parametrize(
    "values", [[], [GOOD], [None], [None, GOOD, None], [b""], [GOOD, b"{", GOOD, b"[]", GOOD, GOOD]]
)
def test_short_batches(values: list[bytes | None]) -> None:
    """Batches without a row, with one, and with NULL have the same rows."""
    compare(batch_of(values), OPTIONS)


def test_slices() -> None:
    """A slice of a batch has the rows of its own messages."""
    values = [GOOD.replace(b'"gen":1', b'"gen":%d' % i) if i % 5 else b"x" for i in range(100)]
    compare(batch_of(values).slice(13, 50), OPTIONS)


def test_all_are_declined() -> None:
    """Where the kernel declines every message, the rows are those of Python."""
    found = compare(batch_of([b'{"msg":1}'] * 3000), OPTIONS)
    assert found.declined == 3000


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.string(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())]
)
def test_columns_of_other_types(kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, large columns and dictionaries are read as bytes are."""
    values = pa.array([GOOD, None, b"x", GOOD], pa.binary())
    text = values.cast(pa.string())
    column = text.dictionary_encode() if pa.types.is_dictionary(kind) else text.cast(kind)
    table = pa.table({"value": column})
    found = cwa.decode(table, format="aerospike-json").rows.read_all()
    monkeypatch.setenv(native.SWITCH, "0")
    assert found.equals(cwa.decode(table, format="aerospike-json").rows.read_all())


def test_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment switches the kernel off."""
    assert native.kernel_of(OPTIONS) is not None
    monkeypatch.setenv(native.SWITCH, "0")
    assert native.kernel_of(OPTIONS) is None


def test_another_version_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel of another version is not used."""
    monkeypatch.setattr(native, "VERSION", "9.9.9")
    assert native.kernel_of(OPTIONS) is None
    assert str(native.misfit()).endswith("and changewire of 9.9.9")


def test_a_kernel_of_other_adapters_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel built from other sources of the adapters is not used, and the report says why."""
    assert native.misfit() is None
    monkeypatch.setattr(native, "digest_of_adapters", lambda: "0")
    assert native.kernel_of(OPTIONS) is None
    assert native.misfit() == "it was built from other sources of changewire.changes"
    assert findings.kernel().status == "unfit"
    assert findings.kernel().advice.startswith("it was built from other sources")


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ('"most":2147483647', '"most":2147483648'),
        ('"form":1', '"form":2'),
        ('"nodes":', ""),
        ("\n", ""),
    ],
)
def test_a_changed_table_is_not_read(
    given: str, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that is not what the generator wrote, or of another form, is not read."""
    text = native.table_of("aerospike-json")
    assert text is not None
    assert given in text
    _tables(monkeypatch, text.replace(given, changed))
    assert native.kernel_of(OPTIONS) is None


def _tables(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Make a text the table of every format."""

    def table_of(_: str) -> str:
        return text

    monkeypatch.setattr(native, "table_of", table_of)


@pytest.mark.parametrize("format", JSON_FORMATS)
def test_a_new_property_of_the_table_is_read(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A property that a schema gets needs no change of the kernel, which reads and checks it."""
    from hashlib import sha256

    text = native.table_of(format)
    assert text is not None
    body = json.loads(text.splitlines()[1])
    scalar = next(i for i, node in enumerate(body["nodes"]) if node["kind"] == "string")
    is_flat = body["nodes"][body["root"]]["kind"] == "flat"  # then an entry may have any name
    for node in body["nodes"]:
        if node["kind"] == "object" and (is_flat or node.get("root")):
            node["fields"].append({"name": "srcId", "node": scalar, "required": False})
    line = json.dumps(body)
    head = json.dumps({"form": 1, "sha256": sha256(line.encode()).hexdigest()})
    _tables(monkeypatch, f"{head}\n{line}\n")
    found, good = kernel(DecodeOptions(format)), JSON_FORMATS[format].good
    more, wrong = (
        good.replace(b'"msg":', b'"srcId":%b,"msg":' % value)
        if is_flat
        else good[:-1] + b',"srcId":%b}' % value
        for value in (b'"a"', b"1")
    )
    made = found.decode(batch_of([good, more, wrong]))
    assert found.counts.declined == 1
    assert made.declined.to_pylist() == [2]


def test_counts() -> None:
    """Messages are counted, and those that were declined by where."""
    found = kernel(OPTIONS)
    broken = GOOD.replace(b'"gen":1', b'"gen":-1')
    rows(batch_of([GOOD, b"x", broken, None]), Decoder(OPTIONS), found)
    assert (found.counts.messages, found.counts.declined) == (4, 3)
    assert found.counts.declined_by == {"Message": 1, "Write.gen": 1, "null": 1}


def test_a_panic_is_declined() -> None:
    """A message on which the kernel panics is counted, and Python reads it as those around it."""
    found = kernel(OPTIONS)
    panics = getattr(native.installed(), "PANIC_ON", None)
    if panics is None:
        pytest.skip("the kernel was not built with the feature panics, which nox -s tests does")
    bad = GOOD.replace(b'"gen":1', b'"gen":1,"new":"%s"' % panics)
    batch = batch_of([GOOD, bad, b"x", bad, GOOD])
    made = rows(batch, Decoder(OPTIONS), found)
    assert found.counts.declined_by == {"panic": 2, "Message": 1}
    assert made.equals(rows(batch, Decoder(OPTIONS), None))
    assert made["kind"].to_pylist() == ["change", "change", "dead_letter", "change", "change"]
    assert compare(batch_of([GOOD]), OPTIONS).declined == 0
    kind = StructType([StructField("n", LongType())])
    assert compared(batch, TypedDecoder(OPTIONS, struct_columns(kind))).declined == 3


def test_a_warning_if_most_messages_are_declined(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged once, with names of the schema and nothing of the messages."""
    monkeypatch.setattr(native, "_ENOUGH", 4)
    broken = GOOD.replace(b'"gen":1', b'"gen":-1')
    found = kernel(OPTIONS)
    for message in (GOOD, broken, broken, broken, broken):
        found.decode(batch_of([message]))
    (record,) = caplog.records
    assert record.getMessage() == (
        "the native kernel left 3 of 4 messages to Python, by place of the schema: Write.gen (3)"
    )
    for message in (GOOD, GOOD, broken, GOOD):
        kernel(OPTIONS).decode(batch_of([message]))
    assert len(caplog.records) == 1


def test_other_decoders_have_no_kernel() -> None:
    """A decoder of which the kernel knows nothing has none."""

    class Other(Decoder):
        pass

    assert Decoder(OPTIONS).kernel is not None
    assert Other(OPTIONS).kernel is None


def test_digests_have_no_kernel() -> None:
    """Where digests are compared, Python decodes."""
    pytest.importorskip("Crypto", reason="the extra digest is not installed")
    assert native.kernel_of(DecodeOptions("aerospike-json", check_digests="warn")) is None


def test_a_decoder_is_pickled_without_its_kernel() -> None:
    """A worker makes its own kernel."""
    decoder = Decoder(OPTIONS)
    assert decoder.kernel is not None
    copy = pickle.loads(pickle.dumps(decoder))  # noqa: S301 - our own bytes
    assert "kernel" not in vars(copy)
    assert copy.kernel is not None


def test_report(tmp_path: Path) -> None:
    """A run in Python says what the kernel did."""
    file = tmp_path / "messages.jsonl"
    file.write_bytes(GOOD + b"\n" + b"[]\n")
    outcome = land([str(file)], str(tmp_path / "out"), FileRun(OPTIONS))
    assert outcome.native is not None
    assert (outcome.native.messages, outcome.native.declined) == (2, 1)


@pytest.mark.parametrize("format", FORMATS)
def test_what_the_table_says_is_read(format: str) -> None:
    """The kernel reads the table of each format."""
    text = native.table_of(format)
    assert text is not None
    module = native.installed()
    found = module.Kernel([(format, text)])
    assert found.declined == {}


def test_columns_of_bytes_only() -> None:
    """What is no column of bytes is refused, and no panic reaches Python."""
    text = native.table_of("aerospike-json")
    found = native.installed().Kernel([("aerospike-json", text)])
    with pytest.raises(ValueError, match="bytes"):
        found.decode(pa.array([1, 2]))
    with pytest.raises(ValueError, match="kernel"):
        native.installed().Kernel([("no-format", text)])


def test_tables_in_turn() -> None:
    """Messages of more tables than a kernel compares, in turn, have the rows of Python."""
    good = JSON_FORMATS["dataworks-json"].good
    message = json.loads(good)
    values = []
    for number in [*range(400)] * 2:
        message["schema"]["source"] = {"dbName": "d", "tableName": f"t{number}"}
        values.append(json.dumps(message).encode())
    found = compare(batch_of(values), DecodeOptions("dataworks-json"))
    assert found.declined == 0


def _resident() -> int:
    """Return the bytes of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system has no /proc")
def test_memory_stays_flat() -> None:
    """A million messages leave nothing behind, with keys that their schema does not declare."""
    name = {"type": "string", "optional": True, "field": "name"}
    images = [
        {"type": "struct", "optional": True, "field": side, "fields": [name]}
        for side in ("before", "after")
    ]
    schema = {"type": "struct", "optional": False, "fields": images}
    source = {"namespace": "n", "table": "t", "ts_ms": 5}
    payload = {"op": "c", "ts_ms": 6, "before": None, "after": {"name": "x"}, "source": source}
    value = json.dumps({"schema": schema, "payload": payload}).encode()
    part = batch_of([value] * 10_000, [b'{"id":1,"other":2}'] * 10_000)
    found = kernel(DecodeOptions("lindorm-json"))
    for _ in range(10):
        found.decode(part)
    before = _resident()
    for _ in range(100):
        found.decode(part)
    assert (found.counts.messages, found.counts.declined) == (1_100_000, 0)
    assert _resident() - before < 8 << 20  # what was kept of each key column was 32 MB
